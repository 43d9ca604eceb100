# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Universal and ball joints: a row that becomes two or three revolute joints at one place.

They turn about z, then y, then x of the frame whose z is the axis that a revolute joint of the
same row would have: frame i-1 in the standard convention, frame i in the modified one. With all
of them at 0 the row's transform is the revolute joint's at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from ..dh import Axis, Convention, DhRow
from ..elements import Joint
from .limits import Limits

NOTHING = DhRow(0.0, 0.0, 0.0, 0.0)


def compound_joints(
    name: str, row: DhRow, limits: Mapping[Axis, Limits], source: str, convention: Convention
) -> tuple[Joint, ...]:
    """Return the revolute joints <name>_z, <name>_y and, of a ball joint, <name>_x.

    Args:
        name: name of the row.
        row: its four numbers; theta is a turn of the link like any other.
        limits: of each axis, in the order of their turns.
        source: where the numbers come from.
        convention: of the table.
    """
    axes = tuple(limits)
    # The link lies behind the last turn in the standard convention, before the first in the other.
    carrier = axes[-1] if convention == "standard" else axes[0]
    return tuple(
        Joint(
            f"{name}_{axis}",
            "revolute",
            row if axis == carrier else NOTHING,
            source=source,
            axis=axis,
            **asdict(limits[axis]),
        )
        for axis in axes
    )
