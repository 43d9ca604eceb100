# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks whether ROS 2 nodes reach each other, on this computer and across the network."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from arm_common.errors import InputError, one_line
from arm_common.network import (
    NETWORK,
    RANGE,
    Reach,
    configured_by,
    limit_to_this_computer,
    reach,
)
from arm_common.suggestions import program

from arm_hardware.commands.doctor_checks import CheckResult
from arm_hardware.commands.doctor_sockets import Endpoint, check_endpoints, fix_for

HIGHEST_DOMAIN = 232  # of DDS' port numbers (ROS 2 documentation, "The ROS_DOMAIN_ID")
UP, LOOPBACK, MULTICAST = 0x1, 0x8, 0x1000  # flags of an interface (linux/if.h)
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_CHOICES = ", ".join(RANGES)
_REMOTE = ("ROS_STATIC_PEERS", "ROS_DISCOVERY_SERVER")  # name other computers
LOOPBACK_TIMEOUT = 10.0  # [s]
_PREFIXES = "AMENT_PREFIX_PATH"
_INDEX = "share/ament_index/resource_index/rmw_typesupport"  # of the installed middlewares


@dataclass(frozen=True)
class Loopback:
    """Result of starting two nodes in this process."""

    works: bool  # a message passes from one to the other
    endpoints: tuple[Endpoint, ...]  # where they receive


def check_network(
    environment: Mapping[str, str], sys: Path, loopback: Callable[[], Loopback]
) -> Iterator[CheckResult]:
    """Check variables and interfaces, then ``loopback``, which starts two nodes."""
    domain = environment.get("ROS_DOMAIN_ID") or "0"
    ok = domain.isascii() and domain.isdigit() and int(domain) <= HIGHEST_DOMAIN
    fix = f"set ROS_DOMAIN_ID to a number from 0 to {HIGHEST_DOMAIN}"
    same = "; every computer needs the same" if ok else ""
    yield CheckResult("ROS_DOMAIN_ID", ok, f"{domain}{same}", fix)
    try:
        limited = limit_to_this_computer(dict(environment))
    except InputError as error:
        yield CheckResult("discovery", False, error.problem, error.remedy)
        return
    yield _check_discovery(environment, limited, _interfaces(sys))
    yield _check_security(limited)
    middleware = _check_middleware(environment)
    if not middleware.ok:
        yield middleware
    if not (ok and middleware.ok):  # rcl would end this process
        return
    found = loopback()
    fix = "let UDP pass the firewall on lo, and unset RMW_IMPLEMENTATION and FASTRTPS_* files"
    detail = "messages arrive" if found.works else f"no message within {LOOPBACK_TIMEOUT:.0f} s"
    yield CheckResult("two nodes here", found.works, detail, fix)
    fix = fix_for(environment.get("RMW_IMPLEMENTATION", ""), environment)
    yield check_endpoints("a node of the arm here", found.endpoints, fix)


def _check_security(environment: Mapping[str, str]) -> CheckResult:
    """Check SROS 2; without it, anyone on the network can command the arm."""
    what, keystore = "keys (SROS 2)", environment.get("ROS_SECURITY_KEYSTORE", "")
    if environment.get("ROS_SECURITY_ENABLE") != "true":
        is_local = reach(environment) in (Reach.THIS_COMPUTER, Reach.FORGED_PACKETS, Reach.NOWHERE)
        anyone = "every user of this computer" if is_local else "anyone on the network"
        return CheckResult(what, True, f"not enabled: {anyone} can command the arm")
    if not keystore or not (Path(keystore) / "enclaves").is_dir():
        where = keystore or "ROS_SECURITY_KEYSTORE is not set"
        fix = f"{program('arm_tasks', 'keystore')} FOLDER, and set ROS_SECURITY_KEYSTORE to it"
        return CheckResult(what, False, f"enabled, but there is no keystore: {where}", fix)
    enforced = environment.get("ROS_SECURITY_STRATEGY") == "Enforce"
    detail = f" and enforced, from {keystore}"
    if not enforced:
        detail = ", but nodes without keys are accepted"
    fix = "export ROS_SECURITY_STRATEGY=Enforce"
    return CheckResult(what, enforced, f"enabled{detail}", fix, needed=False)


def _check_middleware(environment: Mapping[str, str]) -> CheckResult:
    """Check whether the middleware that is asked for is installed, without loading it."""
    name = environment.get("RMW_IMPLEMENTATION", "")
    indices = [Path(prefix, _INDEX) for prefix in environment.get(_PREFIXES, "").split(os.pathsep)]
    known = sorted({file.name for folder in indices for file in folder.glob("rmw_*_c*")})
    fix = f"unset RMW_IMPLEMENTATION, or install {name}; installed: {', '.join(known)}"
    return CheckResult("middleware", not (name and known) or name in known, one_line(name), fix)


def _check_discovery(
    environment: Mapping[str, str], limited: Mapping[str, str], interfaces: list[str]
) -> CheckResult:
    """Check with whom the nodes of the arm communicate, by the settings and their effect."""
    what, discovery_range = "discovery", environment.get(RANGE) or "LOCALHOST"
    if discovery_range not in RANGES:
        detail = f"{RANGE} is {discovery_range}"
        return CheckResult(what, False, detail, f"set it to one of {_CHOICES}")
    nodes = reach(limited)
    if nodes is Reach.NOWHERE:
        return CheckResult(
            what, False, f"{RANGE}=OFF: nodes find no other nodes", f"unset {RANGE}"
        )
    if nodes is Reach.CONFIGURED:
        names = ", ".join(configured_by(limited))
        return CheckResult(what, True, f"as your {names} configures it")
    if nodes is Reach.UNKNOWN_MIDDLEWARE:
        middleware = environment.get("RMW_IMPLEMENTATION")
        return CheckResult(what, True, f"this computer, as far as {middleware} limits it")
    if nodes is not Reach.NETWORK:
        return _check_limited(environment)
    if server := environment.get("ROS_DISCOVERY_SERVER", ""):
        return CheckResult(what, True, f"by the server at {server}")
    peers = environment.get("ROS_STATIC_PEERS", "")
    if not interfaces and not peers:
        detail = "no network with multicast: other computers are not found"
        fix = "connect one, or name the others in ROS_STATIC_PEERS; none needed on one computer"
        return CheckResult(what, False, detail, fix, needed=False)
    where = ", ".join([*interfaces, *(["static peers " + peers] if peers else [])])
    return CheckResult(what, True, f"other computers by {where}")


def _check_limited(environment: Mapping[str, str]) -> CheckResult:
    unused = [name for name in _REMOTE if environment.get(name)]
    is_ignored = environment.get(RANGE) == "SUBNET"
    ignored = f"; {RANGE}=SUBNET, which ROS 2 itself sets, does not open it" if is_ignored else ""
    effect = f"; {' and '.join(unused)} without effect" if unused else ""
    fix = f"to use a network, export {NETWORK}=subnet"
    detail = f"this computer only{ignored}{effect}"
    return CheckResult("discovery", not unused, detail, fix, needed=False)


def _interfaces(sys: Path) -> list[str]:
    """Return the network interfaces that send multicast to other computers."""
    found = []
    for interface in sorted((sys / "class/net").glob("*")):
        try:
            flags = int((interface / "flags").read_text(encoding="ascii"), 16)
        except (OSError, ValueError):
            continue
        if flags & UP and flags & MULTICAST and not flags & LOOPBACK:
            found.append(interface.name)
    return found
