# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Columns by joint name."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DescriptionError
from ..model import RobotModel
from ..nearest import nearest


def order_of(names: Sequence[str], model: RobotModel, file: str, line: int) -> list[int]:
    """Return for each joint of the robot the index of its column.

    Args:
        names: of the columns.
        model: the robot.
        file: for errors.
        line: for errors.

    Raises:
        DescriptionError: a joint is unknown, missing, or named twice.
    """
    for name in names:
        if name not in model.joint_names:
            raise DescriptionError(
                f"{model.name} has no joint {name!r}",
                remedy=nearest(name, model.joint_names),
                file=file,
                line=line,
            )
        if list(names).count(name) > 1:
            raise DescriptionError(
                f"joint {name!r} is named twice", remedy="delete one", file=file, line=line
            )
    missing = [name for name in model.joint_names if name not in names]
    if missing:
        raise DescriptionError(
            f"joint {missing[0]!r} is missing",
            remedy=f"name all joints of {model.name}: {', '.join(model.joint_names)}",
            file=file,
            line=line,
        )
    return [list(names).index(name) for name in model.joint_names]
