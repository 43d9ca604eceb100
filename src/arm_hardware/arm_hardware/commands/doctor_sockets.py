# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Measures on which addresses the ROS 2 processes of this computer listen, from /proc.

The kernel lists the sockets of a network namespace in /proc/PID/net (proc(5)); the links in
/proc/PID/fd have the inodes of those that a process holds.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from arm_common.network import NETWORK, RANGE, configured_by, is_limited

from arm_hardware.commands.doctor_checks import CheckResult

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


@dataclass(frozen=True)
class RosProcess:
    """A process with a ROS 2 node."""

    pid: int
    name: str
    endpoints: tuple[Endpoint, ...]
    fix: str  # if it can be reached from other computers


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


def ros_processes(proc: Path = PROC) -> list[RosProcess]:
    """Return the processes with a ROS 2 node that this user may inspect, by process ID."""
    found = []
    for pid in sorted(int(path.name) for path in proc.glob("[0-9]*")):
        try:
            folder = proc / str(pid)
            libraries = (folder / "maps").read_text(errors="replace")
            if _MIDDLEWARE in libraries:
                fix = fix_for(libraries, _environment(folder))
                found.append(RosProcess(pid, _name(folder), endpoints_of(pid, proc), fix))
        except OSError:  # ended meanwhile, or of another user
            continue
    return found


def check_processes(proc: Path = PROC) -> Iterator[CheckResult]:
    """Check where each ROS 2 process of this user, except this one, can be reached."""
    for process in ros_processes(proc):
        if process.pid != os.getpid():
            what = f"{process.name}, pid {process.pid}"
            yield check_endpoints(what, process.endpoints, process.fix)


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
