# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Resources of processes over the windows of a load, and the bounds on their growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench_stack import cpu_seconds
from ik.tables import table

WINDOWS = 10
MEMORY_BOUND, RATE_BOUND, CPU_BOUND = 5.0, 0.05, 0.05  # [MB], fractions
SELF = "this client"
COUNTS = ("descriptors", "threads")


class Use(NamedTuple):
    """Resources of a process."""

    cpu: float  # [s] so far, with forked children that have ended
    memory: float  # [MB], without files, which any process on the machine may share
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Use:
        """Read the resources of a process."""
        folder = Path(f"/proc/{pid}")
        lines = (folder / "status").read_text().splitlines()
        size = sum(int(x.split()[1]) for x in lines if x.startswith(("RssAnon", "RssShmem")))
        counts = (len(list((folder / name).iterdir())) for name in ("fd", "task"))
        return cls(cpu_seconds(pid, with_children=True), size / 1024.0, *counts)


@dataclass(frozen=True)
class Window:
    """Some operations in a row."""

    count: int
    seconds: float
    before: Mapping[str, Use]  # by process
    after: Mapping[str, Use]

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.count / self.seconds

    @property
    def cpu(self) -> float:
        """CPU time of all nodes per operation [ms]."""
        names = self.after.keys() - {SELF}
        total = sum(self.after[name].cpu - self.before[name].cpu for name in names)
        return 1e3 * total / self.count

    def __str__(self) -> str:
        sizes = (
            f"{name} {use.memory:.1f} MB/{use.descriptors}/{use.threads}"
            for name, use in self.after.items()
        )
        return f"{self.rate:.1f} per second, CPU {self.cpu:.2f} ms each; {', '.join(sizes)}"


@dataclass
class Growth:
    """The windows of a load, and pairs of them: on the used stack and on a fresh one."""

    title: str
    windows: list[Window] = field(default_factory=list)
    pairs: list[tuple[Window, Window]] = field(default_factory=list)

    def memory(self, name: str) -> float:
        """Return how much memory a process has gained since the end of the warm-up [MB]."""
        return self.windows[-1].after[name].memory - self.windows[0].after[name].memory

    @property
    def rate(self) -> float:
        """Rate of the used stack as a fraction of the fresh one's: median of the pairs."""
        return median(used.rate / fresh.rate for used, fresh in self.pairs)

    @property
    def cpu(self) -> float:
        """CPU time per operation of the used stack as a fraction of the fresh one's, likewise."""
        return median(used.cpu / fresh.cpu for used, fresh in self.pairs)

    def broken(self) -> list[str]:
        """Return the bounds that do not hold, one line each."""
        found = []
        first, last = self.windows[0].after, self.windows[-1].after
        for name in last:
            if self.memory(name) > MEMORY_BOUND:
                found.append(f"{name} grew by {self.memory(name):.1f} MB")
            for kind in COUNTS:
                before, after = getattr(first[name], kind), getattr(last[name], kind)
                if before != after:
                    found.append(f"{name} had {before} {kind}, then {after}")
        if self.pairs and self.rate < 1.0 - RATE_BOUND:
            found.append(f"the rate is {self.rate:.1%} of a fresh stack's")
        if self.pairs and self.cpu > 1.0 + CPU_BOUND:
            found.append(f"the CPU time of an operation is {self.cpu:.1%} of a fresh stack's")
        return [f"{self.title}: {line}" for line in found]


def tables(found: Sequence[Growth]) -> str:
    """Return rates, resources and broken bounds as text."""
    lines = [line for growth in found for line in growth.broken()]
    verdict = "\n".join(f"- {line}" for line in lines) or "All bounds hold."
    return f"{_rates(found)}\n\n{_resources(found)}\n\n{verdict}"


def _rates(found: Sequence[Growth]) -> str:
    rows = []
    for growth in found:
        count = sum(window.count for window in growth.windows)
        minutes = sum(window.seconds for window in growth.windows) / 60.0
        ends = growth.windows[1], growth.windows[-1]
        cells = [f"{count:,}", f"{minutes:.1f}", *(f"{window.rate:.1f}" for window in ends)]
        cells += [f"{window.cpu:.2f}" for window in ends]
        shares = (growth.rate, growth.cpu) if growth.pairs else ()
        rows.append([growth.title, *cells, *([f"{x:.1%}" for x in shares] or ["", ""])])
    head = ["load", "count", "minutes", "per second, second tenth", "last tenth"]
    head += ["CPU each [ms], second tenth", "last tenth", "used to fresh: rate", "CPU each"]
    return table(head, rows)


def _resources(found: Sequence[Growth]) -> str:
    rows = []
    for growth in found:
        first, last = growth.windows[0].after, growth.windows[-1].after
        for name, use in first.items():
            end = last[name]
            counts = (f"{getattr(use, kind)}, {getattr(end, kind)}" for kind in COUNTS)
            change = f"{growth.memory(name):+.1f}"
            rows.append([growth.title, f"`{name}`", f"{use.memory:.1f}", change, *counts])
    head = ["load", "process", "memory [MB]", "growth [MB]", "file descriptors", "threads"]
    return table(head, rows)
