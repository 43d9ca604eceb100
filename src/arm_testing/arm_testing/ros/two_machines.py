# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two computers and the cable between them, as network namespaces; needs root and `ip`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path

CLONE_NEWNET = 0x40000000  # linux/sched.h
NAMESPACES = Path("/run/netns")
BOUND = 60.0  # s
LIBC = ctypes.CDLL(None, use_errno=True)


def why_not() -> str:
    """Return why this computer cannot simulate two, "" if it can."""
    if shutil.which("ip") is None:
        return "the command ip is missing (Debian's package iproute2)"
    name = f"arm-try-{os.getpid()}"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if done.returncode != 0:
        return f"no network namespaces: {done.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


class Machine:
    """A network namespace, whose processes communicate only through its cable."""

    def __init__(self, name: str, address: str) -> None:
        """Create the machine, without a cable."""
        self.name, self.address = f"arm-{name}-{os.getpid()}", address
        _ip("netns", "add", self.name)
        _ip("-n", self.name, "link", "set", "lo", "up")

    @contextlib.contextmanager
    def inside(self):
        """Move this thread, and processes and threads that it starts, to the machine."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(NAMESPACES / self.name, os.O_RDONLY)
        try:
            _enter(there)
            yield self
        finally:
            _enter(home)
            os.close(home)
            os.close(there)

    def is_connected(self) -> bool:
        """Return whether its network is up; Fast DDS detects networks only when it starts."""
        return " state UP " in _ip("-n", self.name, "link", "show", "eth0")

    def remove(self) -> None:
        """Remove the machine and its end of the cable."""
        _ip("netns", "del", self.name)


class Cable:
    """Connects two machines."""

    def __init__(self, one: Machine, other: Machine) -> None:
        """Plug the cable in."""
        self._end = one
        ends = ("link", "add", "eth0", "netns", one.name, "type", "veth")
        _ip(*ends, "peer", "name", "eth0", "netns", other.name)
        for machine in (one, other):
            _ip("-n", machine.name, "addr", "add", f"{machine.address}/24", "dev", "eth0")
            _ip("-n", machine.name, "link", "set", "eth0", "up")
        end = time.monotonic() + BOUND
        while not all(machine.is_connected() for machine in (one, other)):
            assert time.monotonic() < end, "the cable has no link"
            time.sleep(0.01)

    def cut(self) -> None:
        """Unplug the cable."""
        _ip("-n", self._end.name, "link", "set", "eth0", "down")

    def mend(self) -> None:
        """Plug the cable in again."""
        _ip("-n", self._end.name, "link", "set", "eth0", "up")


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def _enter(namespace: int) -> None:
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
