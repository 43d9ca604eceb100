# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/kernels/test_module.py
"""The records that Python fills and the compiled kernels read: the structs of cpp/ by name.

All numbers are float64, so a record has the same layout on both sides; `test_module` compares
sizes and offsets. The meaning of each field stands beside the struct.

A compiled module of other sources is recognised by their digest, for which setup.py runs this
file by itself.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Orientation(IntEnum):
    """The part of a target's orientation that counts (cpp/residuals.hpp)."""

    NOTHING = 0
    AXIS = 1
    ROTATION = 2


class Family(IntEnum):
    """The families of closed forms (cpp/closed_form/plan.hpp)."""

    PLACE_THEN_TURN = 0
    TURN_THEN_PLACE = 1


class Ending(IntEnum):
    """How the tracing of a self-motion ends (cpp/self_motion.hpp)."""

    CLOSED = 1
    STUCK = 2
    FULL = 3


BOTH = -1  # Plan.first: a quartic in both outer joints
MAX_BRANCHES = 8  # of a closed form
FARTHEST_SEED = 1e9  # [rad or m]
DEFAULT_POSITION_TOLERANCE = 1e-5  # [m]
DEFAULT_ORIENTATION_TOLERANCE = 1e-4  # [rad]

_SOURCES = Path(__file__).parent.parent / "cpp"

Records: TypeAlias = NDArray[np.void]
"""One record (a zero-dimensional array) or several; with a name, the column of that field."""


def _record(*fields: Any) -> np.dtype[Any]:
    """Return a dtype of float64 fields: names, names with a shape, or with a shape and a dtype."""
    rows = [(field, ()) if isinstance(field, str) else field for field in fields]
    return np.dtype([(name, *(kind or [np.float64]), shape) for name, shape, *kind in rows])


JOINT = _record(
    ("rotation", (3, 3)),
    ("position", (3,)),
    *("prismatic", "lower", "upper", "unit", "spacing", "period", "leader", "ratio"),
)
PLAN_JOINT = _record(("direction", (3,)), ("point", (3,)), "slides", "sense")
PLAN = _record(
    *("family", "reversed", "before", "parallel", "after", "kept", "first", "invariant", "length"),
    ("home_rotation", (3, 3)),
    ("home_position", (3,)),
    *((name, (3,)) for name in ("centre", "meet", "pivot", "normal_0", "normal_1")),
    *("zero", "bend_4", "bend_6"),
    ("joints", (6,), PLAN_JOINT),
)
_HEAD = ("solutions", "starts", "evaluations", "best_effort", "singular")


@cache
def options_dtype(joints: int) -> np.dtype[Any]:
    """Return the dtype of the options for a chain of so many rows."""
    return _record(
        "orientation",
        *((name, (6,)) for name in ("weights", "bounds", "even")),
        *("position_box", "orientation_box", "in_tip", "reachable_cost"),
        ("axis", (3,)),
        *("aim", "exact_minimum", "starts", "smallest_gain", "centred", "time_limit", "keep_seed"),
        ("joint_weights", (joints,)),
    )


@lru_cache(maxsize=1024)
def result_dtype(joints: int, slots: int) -> np.dtype[Any]:
    """Return the dtype of a result: its head, and the slots of solutions or the best effort."""
    slot = _record(("q", (joints,)), ("error", (6,)), "cost", "distance")
    return _record(*_HEAD, ("slots", (slots,), slot))


def record_sizes() -> tuple[int, ...]:
    """Return the sizes of all records [bytes], as RECORD_SIZES of the compiled module."""
    records = JOINT, options_dtype(0), PLAN, result_dtype(1, 1)
    return tuple(record.itemsize for record in records)


def empty_result(joints: int, slots: int) -> Records:
    """Return a result without solutions, as a search begins with."""
    return np.zeros((), result_dtype(joints, slots))


def used_slots(out: Records) -> Records:
    """Return the slots (k,) of the solutions, or of the best effort, as a view."""
    return out["slots"][: int(out["solutions"]) or 1]  # type: ignore[no-any-return]


def with_slots(out: Records, slots: Records, solutions: int) -> Records:
    """Return a result with the head of another one, and other slots (k,)."""
    result = empty_result(slots["q"].shape[1], len(slots))
    for name in _HEAD:
        result[name] = out[name]
    result["solutions"], result["slots"] = solutions, slots
    return result


def digest() -> str:
    """Return the digest of the sources; empty where they are not installed."""
    files = sorted(_SOURCES.rglob("*.?pp"))
    content = b"\0".join(part for f in files for part in (f.name.encode(), f.read_bytes()))
    return sha256(content).hexdigest()[:16] if files else ""
