# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Suggestions for misspelt words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a remedy for an unknown word: the closest known word, if any, and the full list."""
    options = tuple(known)
    close = difflib.get_close_matches(word.lower(), options, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known are {', '.join(options) or 'none'}"
