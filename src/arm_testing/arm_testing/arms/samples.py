# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of tests of which ./arm test runs a sample, and ./arm test --all every one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from arm_description.library import shipped_robots


def sampled(values: Iterable[Any], *sample: Any) -> list[Any]:
    """Return parameters; those that are not in the sample are marked thorough."""
    marked = pytest.mark.thorough
    return [v if v in sample else pytest.param(v, marks=marked) for v in values]


# A hobby arm, an industrial one with DH frames, a linkage, and one that came from a URDF
ROBOTS = sampled(sorted(shipped_robots()), "nut_arm", "puma560", "mearm", "so101")
