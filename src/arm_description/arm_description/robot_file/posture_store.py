# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Store a posture in a robot file; the rest of its text, comments and layout, is kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from arm_common.atomic_file import write_bytes
from arm_common.suggestions import did_you_mean
from arm_common.yaml.editing import YamlEditor, flow_mapping, flow_word, with_values

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.sections import GRIPPER_KEY
from arm_description.robot_model import RobotModel

_SECTION = "postures"
_DIGITS = 12
# Between a posture and what its decimals read back as [rad or m].
_ROUNDING = 1e-9


def store_posture(
    path: str | os.PathLike[str], name: str, positions: Mapping[str, float]
) -> RobotModel:
    """Save a posture under a name, in place of one of that name, and return the robot with it.

    The new text is read, and must be the same robot but for this posture, before it replaces the
    file in one step; the former text stays beside it as ``<file>.bak``.

    Args:
        path: the robot file.
        name: of the posture.
        positions: of every joint [rad or m]; "gripper" is a width [m], if the robot has one.

    Raises:
        DescriptionError: the file is wrong or cannot be written, a joint is missing or unknown, or
            a position is outside the limits. The file is then as it was.
    """
    file, shown = Path(path).resolve(), str(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise DescriptionError(problem, remedy="check the path", file=shown) from None
    model = parse_robot(data, shown)
    new = _edited(data, name, _texts(model, name, positions))
    after = parse_robot(new, shown)
    _refuse_other_changes(model, after, name, positions, shown)
    try:
        shutil.copy2(file, file.with_name(file.name + ".bak"))
    except OSError as error:
        problem = f"no backup can be written beside it ({error.strerror})"
        remedy = "copy the file to a folder of yours"
        raise DescriptionError(problem, remedy=remedy, file=shown) from None
    write_bytes(new, str(file))
    return after


def _edited(data: bytes, name: str, values: Mapping[str, str]) -> bytes:
    """Return the text with a posture added, replaced or with other numbers in the same places."""
    editor = YamlEditor(data)
    if set(editor.keys(_SECTION, name)) == set(values):
        return with_values(data, (_SECTION, name), values)
    editor.set((_SECTION, name), flow_mapping({flow_word(j): text for j, text in values.items()}))
    return editor.data


def _texts(model: RobotModel, name: str, positions: Mapping[str, float]) -> dict[str, str]:
    types = {joint.name: str(joint.type) for joint in model.joints}
    if model.gripper:
        types[GRIPPER_KEY] = "prismatic"
    for joint in positions:
        if joint not in types:
            problem = f"posture {name!r}: {model.name} has no joint {joint!r}"
            raise DescriptionError(problem, remedy=did_you_mean(joint, types))
    return {
        joint: f"{model.units.written(float(positions[joint]), kind) + 0.0:.{_DIGITS}g}"
        for joint, kind in types.items()
        if joint in positions
    }


def _refuse_other_changes(
    before: RobotModel, after: RobotModel, name: str, wanted: Mapping[str, float], file: str
) -> None:
    """Refuse a text that says anything else than before, which an alias or a merge may cause."""
    stored = after.postures.get(name, {})
    right = stored.keys() == wanted.keys() and all(
        abs(stored[joint] - wanted[joint]) <= _ROUNDING for joint in wanted
    )
    expected = replace(before, postures={**before.postures, name: stored})
    if not right or after != expected:
        raise DescriptionError(
            f"posture {name!r} cannot be changed alone",
            remedy="does an alias (*name) share it with another? Write it out by hand",
            file=file,
        )
