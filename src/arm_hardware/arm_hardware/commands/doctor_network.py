# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks whether ROS 2 nodes reach each other, on this computer and across the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from arm_hardware.commands.doctor_checks import CheckResult

HIGHEST_DOMAIN = 232  # of DDS' port numbers (ROS 2 documentation, "The ROS_DOMAIN_ID")
UP, LOOPBACK, MULTICAST = 0x1, 0x8, 0x1000  # flags of an interface (linux/if.h)
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
LOOPBACK_TIMEOUT = 10.0  # [s]


def check_network(
    environment: Mapping[str, str], sys: Path, loopback: Callable[[], bool]
) -> Iterator[CheckResult]:
    """Check variables and interfaces, then ``loopback``, which tells if two nodes communicate."""
    domain = environment.get("ROS_DOMAIN_ID") or "0"
    ok = domain.isascii() and domain.isdigit() and int(domain) <= HIGHEST_DOMAIN
    fix = f"set ROS_DOMAIN_ID to a number from 0 to {HIGHEST_DOMAIN}"
    same = "; every computer needs the same" if ok else ""
    yield CheckResult("ROS_DOMAIN_ID", ok, f"{domain}{same}", fix)
    yield _check_discovery(environment, _interfaces(sys))
    yield _check_security(environment)
    if not ok:
        return
    works = loopback()
    fix = "let UDP pass the firewall on lo, and unset RMW_IMPLEMENTATION and FASTRTPS_* files"
    detail = "messages arrive" if works else f"no message within {LOOPBACK_TIMEOUT:.0f} s"
    yield CheckResult("two nodes here", works, detail, fix)


def _check_security(environment: Mapping[str, str]) -> CheckResult:
    """Check SROS 2; without it, anyone on the network can command the arm."""
    what, keystore = "keys (SROS 2)", environment.get("ROS_SECURITY_KEYSTORE", "")
    if environment.get("ROS_SECURITY_ENABLE") != "true":
        return CheckResult(what, True, "not enabled: anyone on the network may command the arm")
    if not keystore or not (Path(keystore) / "enclaves").is_dir():
        where = keystore or "ROS_SECURITY_KEYSTORE is not set"
        fix = "ros2 run arm_tasks keystore FOLDER, and set ROS_SECURITY_KEYSTORE to it"
        return CheckResult(what, False, f"enabled, but there is no keystore: {where}", fix)
    enforced = environment.get("ROS_SECURITY_STRATEGY") == "Enforce"
    detail = f" and enforced, from {keystore}"
    if not enforced:
        detail = ", but nodes without keys are accepted"
    fix = "export ROS_SECURITY_STRATEGY=Enforce"
    return CheckResult(what, enforced, f"enabled{detail}", fix, needed=False)


def _check_discovery(environment: Mapping[str, str], interfaces: list[str]) -> CheckResult:
    what, name = "discovery", "ROS_AUTOMATIC_DISCOVERY_RANGE"
    chosen = environment.get(name) or "SUBNET"
    if environment.get("ROS_LOCALHOST_ONLY") == "1":
        chosen = "LOCALHOST"
    peers = environment.get("ROS_STATIC_PEERS", "")
    if environment.get("RMW_IMPLEMENTATION") == "rmw_zenoh_cpp":
        return CheckResult(what, True, f"by the router of Zenoh; {name} is ignored")
    if chosen not in RANGES:
        fix = f"set it to one of {', '.join(RANGES)}"
        return CheckResult(what, False, f"{name} is {chosen}", fix)
    if chosen == "OFF":
        return CheckResult(what, False, f"{name}=OFF: nodes find no other nodes", f"unset {name}")
    if server := environment.get("ROS_DISCOVERY_SERVER", ""):
        return CheckResult(what, True, f"by the server at {server}; {name} is ignored")
    if chosen == "LOCALHOST":
        others = f"and {peers}" if peers else "only"
        return CheckResult(what, True, f"this computer {others} ({name}=LOCALHOST)")
    if not interfaces and not peers:
        detail = "no network with multicast: other computers are not found"
        fix = "connect one, or name the others in ROS_STATIC_PEERS; none needed on one computer"
        return CheckResult(what, False, detail, fix, needed=False)
    where = ", ".join([*interfaces, *(["static peers " + peers] if peers else [])])
    return CheckResult(what, True, f"other computers by {where}")


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
