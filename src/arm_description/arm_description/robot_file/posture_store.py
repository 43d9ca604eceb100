# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Save a posture to a robot file, preserving its comments and layout."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from arm_common.files.saving import save_edit
from arm_common.suggestions import did_you_mean
from arm_common.yaml.editing import YamlEditor, flow_mapping, flow_word, with_values

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.robot_keys import GRIPPER_KEY
from arm_description.robot_model import RobotModel

_SECTION = "postures"
_DIGITS = 12
# Rounding error of the written decimals [rad or m].
_ROUNDING = 1e-9


def store_posture(
    path: str | os.PathLike[str], name: str, positions: Mapping[str, float]
) -> RobotModel:
    """Add or replace a posture of a robot file and return the resulting robot.

    The new text is parsed and must describe the same robot apart from this posture before it
    atomically replaces the file; the previous text is kept as ``<file>.bak``.

    Args:
        path: the robot file.
        name: name of the posture.
        positions: position of every joint [rad or m]; "gripper" is a width [m].

    Raises:
        DescriptionError: the file is invalid, a joint is missing or unknown, or a position is
            outside the limits.
        InputError: the file or its backup cannot be written. The file is unchanged after errors.
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
    _reject_other_changes(model, after, name, positions, shown)
    save_edit(new, file, data)
    return after


def _edited(data: bytes, name: str, values: Mapping[str, str]) -> bytes:
    """Return the text with a posture added or replaced; existing numbers are edited in place."""
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


def _reject_other_changes(
    before: RobotModel, after: RobotModel, name: str, target: Mapping[str, float], file: str
) -> None:
    """Raise a DescriptionError if anything else has changed, which an alias may cause."""
    stored = after.postures.get(name, {})
    is_stored = stored.keys() == target.keys() and all(
        abs(stored[joint] - target[joint]) <= _ROUNDING for joint in target
    )
    expected = replace(before, postures={**before.postures, name: stored})
    if not is_stored or after != expected:
        raise DescriptionError(
            f"posture {name!r} cannot be changed alone",
            remedy="if an alias (*name) shares it with another, write it out by hand",
            file=file,
        )
