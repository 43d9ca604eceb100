# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks whether ROS 2 nodes reach each other, on this computer and across the network.

Where their processes listen is measured from /proc: the kernel lists the sockets of a network
namespace in /proc/PID/net (proc(5)); the links in /proc/PID/fd have the inodes of those that a
process holds.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arm_common.errors import InputError, one_line
from arm_common.network import (
    NETWORK,
    RANGE,
    Reach,
    configured_by,
    is_limited,
    limit_to_this_computer,
    reach,
)
from arm_common.suggestions import program

from arm_hardware.commands.doctor_checks import CheckResult

HIGHEST_DOMAIN = 232  # of DDS' port numbers (ROS 2 documentation, "The ROS_DOMAIN_ID")
UP, LOOPBACK, MULTICAST = 0x1, 0x8, 0x1000  # flags of an interface (linux/if.h)
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_CHOICES = ", ".join(RANGES)
_REMOTE = ("ROS_STATIC_PEERS", "ROS_DISCOVERY_SERVER")  # name other computers
LOOPBACK_TIMEOUT = 10.0  # [s]
_PREFIXES = "AMENT_PREFIX_PATH"
_INDEX = "share/ament_index/resource_index/rmw_typesupport"  # of the installed middlewares
PROC = Path("/proc")
_MIDDLEWARE = "/librmw"  # in the memory map of every process with a ROS 2 node
# A socket that receives, by table: a TCP socket in state LISTEN, a UDP socket without a peer.
_RECEIVING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
_CYCLONE = "rmw_cyclonedds"  # in the name of its library and in RMW_IMPLEMENTATION
# What helps, by cause (docs/security.md).
_FIREWALL = (
    "Cyclone DDS receives on every address: close UDP ports 7400 and above with a firewall, or use"
    " keys (docs/security.md)"
)
_CLOSE = "unset {}, or start it with network:=this_computer; or use keys (docs/security.md)"
_START_LIMITED = "start it with ./arm exec, or with the settings in docs/security.md"


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


@dataclass(frozen=True)
class Endpoint:
    """An address at which a process receives."""

    protocol: str  # tcp or udp
    address: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this computer can send to it."""
        address = ipaddress.ip_address(self.address)
        mapped = getattr(address, "ipv4_mapped", None)
        return (mapped or address).is_loopback


def endpoints_of(pid: int, proc: Path = PROC) -> tuple[Endpoint, ...]:
    """Return where a process receives.

    Raises:
        OSError: the process has ended or belongs to another user.
    """
    folder = proc / str(pid)
    targets = (_target(link) for link in (folder / "fd").iterdir())
    inodes = {target[8:-1] for target in targets if target.startswith("socket:[")}
    found = [
        _endpoint(table[:3], fields[1])
        for table, state in _RECEIVING.items()
        for fields in _rows(folder / "net" / table)
        if fields[3] == state and fields[9] in inodes
    ]
    return tuple(sorted(found, key=lambda e: (e.protocol, e.address, e.port)))


def check_processes(proc: Path = PROC) -> Iterator[CheckResult]:
    """Check where each process with a ROS 2 node, except this one, can be reached.

    They are those that this user may inspect, by process ID.
    """
    for pid in sorted(int(path.name) for path in proc.glob("[0-9]*")):
        folder = proc / str(pid)
        with suppress(OSError):  # ended meanwhile, or of another user
            libraries = (folder / "maps").read_text(errors="replace")
            if _MIDDLEWARE in libraries and pid != os.getpid():
                fix, endpoints = fix_for(libraries, _environment(folder)), endpoints_of(pid, proc)
                yield check_endpoints(f"{_name(folder)}, pid {pid}", endpoints, fix)


def fix_for(middleware: str, environment: Mapping[str, str]) -> str:
    """Return what limits a process to this computer, by its middleware and its environment."""
    if _CYCLONE in middleware:
        return _FIREWALL
    if names := configured_by(environment):
        return f"it uses your {', '.join(names)}: bind it to 127.0.0.1 there (docs/security.md)"
    if environment.get(NETWORK) == "subnet":
        return _CLOSE.format(NETWORK)
    is_open = environment.get(RANGE) == "SYSTEM_DEFAULT" and not is_limited(environment)
    return _CLOSE.format(RANGE) if is_open else _START_LIMITED


def check_endpoints(what: str, endpoints: tuple[Endpoint, ...], fix: str) -> CheckResult:
    """Check that a process can be reached only from this computer."""
    public = [endpoint for endpoint in endpoints if not endpoint.is_local]
    named = sorted({f"{e.protocol} {e.address}" for e in public or endpoints})
    reach = "other computers can send to it" if public else "this computer only"
    detail = f"listens on {', '.join(named) or 'no address'}: {reach}"
    return CheckResult(what, not public, detail, fix, needed=False)


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed meanwhile
        return ""


def _rows(table: Path) -> Iterator[list[str]]:
    """Yield the fields of each socket of a table; its first line has the column names."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:  # no IPv6
        return
    yield from (line.split() for line in lines[1:])


def _endpoint(protocol: str, local: str) -> Endpoint:
    """Parse an address such as 0100007F:1CF2: words of four bytes in the order of the CPU."""
    words, _, port = local.partition(":")
    data = b"".join(bytes.fromhex(words[i : i + 8])[::-1] for i in range(0, len(words), 8))
    return Endpoint(protocol, str(ipaddress.ip_address(data)), int(port, 16))


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment variables with which a process was started."""
    entries = (folder / "environ").read_text(errors="replace").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def _name(folder: Path) -> str:
    """Return the node name of a process, otherwise the name of its program."""
    words = (folder / "cmdline").read_text(errors="replace").split("\0")
    if match := re.search(r"__node:=(\S+)", " ".join(words)):
        return match[1]
    program, argument = Path(words[0]).name, words[1] if len(words) > 1 else ""
    is_script = program.startswith("python") and argument and not argument.startswith("-")
    return Path(argument).name if is_script else program
