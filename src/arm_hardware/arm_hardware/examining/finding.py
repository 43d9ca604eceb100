# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        what: Its name.
        ok: Whether it is as it should be.
        detail: What was found.
        fix: What to do; empty if ok.
        needed: Whether something in the chosen scope does not work without it.
    """

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True

    @property
    def mark(self) -> str:
        """One word: ok, note or problem."""
        return "ok" if self.ok else "problem" if self.needed else "note"
