# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What to say about a wrong word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the remedy for a wrong word: the known one that is nearest, if any is, and all."""
    options = tuple(known)
    close = difflib.get_close_matches(word.lower(), options, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known are {', '.join(options) or 'none'}"
