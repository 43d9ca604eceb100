# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Save a posture into a robot file; the rest of its text, comments and layout, stays as it is.

Put a posture into the text of a robot file: only its own characters change.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import yaml
from arm_common.atomic_file import write_bytes
from arm_common.suggestions import did_you_mean
from arm_common.yaml.editing import end_of, value_of, with_entry

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.sections import GRIPPER_KEY
from arm_description.robot_file.writer import flow_mapping, flow_word
from arm_description.robot_model import RobotModel

SECTION = "postures"
Pairs = list[tuple[yaml.Node, yaml.Node]]


def edited(data: bytes, name: str, values: Mapping[str, str]) -> bytes:
    """Return the text with a posture added or replaced.

    Args:
        data: a robot file without errors.
        name: of the posture.
        values: joint name -> number, as text.

    Raises:
        DescriptionError: the whole file is written in braces.
    """
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    text = data.decode("utf-8-sig")
    return bom + _edited(text, name, values).encode()


def _edited(text: str, name: str, values: Mapping[str, str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    posture = flow_mapping({flow_word(joint): value for joint, value in values.items()})
    entry = f"{flow_word(name)}: {posture}"
    root = cast(yaml.MappingNode, yaml.compose(text, Loader=yaml.SafeLoader))
    section = cast("yaml.MappingNode | None", value_of(root, SECTION))
    if section is None:
        if root.flow_style:
            raise DescriptionError(
                "the whole file is in braces {}", remedy="write one key a line, without them"
            )
        lines = f"{newline}{SECTION}:{newline}  {entry}{newline}"
        return f"{_before_document_end(text, newline)}{lines}"
    old = value_of(section, name)
    if old is None:
        return with_entry(text, section, entry)
    if {key.value for key, _ in old.value} == set(values):
        return _renumbered(text, old.value, values)
    return text[: old.start_mark.index] + posture + text[end_of(old) :]


def _before_document_end(text: str, newline: str) -> str:
    """The text without a closing ``...``, behind which nothing may stand."""
    text = text.rstrip().removesuffix("...") if text.rstrip().endswith("\n...") else text
    return text if text.endswith("\n") else text + newline


def _renumbered(text: str, old: Pairs, values: Mapping[str, str]) -> str:
    """The posture with other numbers in the same places."""
    for key, node in sorted(old, key=lambda pair: -pair[1].start_mark.index):
        start, end = node.start_mark.index, end_of(node)
        text = text[:start] + values[key.value] + text[end:]
    return text


DIGITS = 12
# Between a posture and what its decimals read back as [rad or m].
ROUNDING = 1e-9


def store_posture(
    path: str | os.PathLike[str], name: str, positions: Mapping[str, float]
) -> RobotModel:
    """Save a posture under a name, in place of one of that name.

    The new text is read, and must be the same robot but for this posture, before it replaces the
    file in one step; the former text stays beside it as ``<file>.bak``.

    Args:
        path: the robot file.
        name: of the posture.
        positions: of every joint [rad or m]; "gripper" is a width [m], if the robot has one.

    Returns:
        The robot with the posture.

    Raises:
        DescriptionError: the file is wrong or cannot be written, a joint is missing or unknown, or
            a position is outside the limits. The file is then as it was.
    """
    file = Path(path).resolve()
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DescriptionError(
            f"cannot be read ({error.strerror})", remedy="check the path", file=str(path)
        ) from None
    model = parse_robot(data, str(path))
    new = edited(data, name, _texts(model, name, positions))
    after = parse_robot(new, str(path))
    _refuse_other_changes(model, after, name, positions, str(path))
    try:
        shutil.copy2(file, file.with_name(file.name + ".bak"))
    except OSError as error:
        raise DescriptionError(
            f"no backup can be written beside it ({error.strerror})",
            remedy="copy the file to a folder of yours",
            file=str(path),
        ) from None
    write_bytes(new, str(file))
    return after


def _texts(model: RobotModel, name: str, positions: Mapping[str, float]) -> dict[str, str]:
    """The positions as they are written in the file's units, in the order of the joints."""
    types = {joint.name: str(joint.type) for joint in model.joints}
    if model.gripper:
        types[GRIPPER_KEY] = "prismatic"
    for joint in positions:
        if joint not in types:
            raise DescriptionError(
                f"posture {name!r}: {model.name} has no joint {joint!r}",
                remedy=did_you_mean(joint, types),
            )
    return {
        joint: f"{model.units.written(float(positions[joint]), kind) + 0.0:.{DIGITS}g}"
        for joint, kind in types.items()
        if joint in positions
    }


def _refuse_other_changes(
    before: RobotModel, after: RobotModel, name: str, wanted: Mapping[str, float], file: str
) -> None:
    """Refuse a text that says anything else than before, which an alias or a merge may cause."""
    others = {key: value for key, value in before.postures.items() if key != name}
    found = {key: value for key, value in after.postures.items() if key != name}
    stored = after.postures.get(name, {})
    right = stored.keys() == wanted.keys() and all(
        abs(stored[joint] - wanted[joint]) <= ROUNDING for joint in wanted
    )
    if not right or found != others or replace(after, postures=before.postures) != before:
        raise DescriptionError(
            f"posture {name!r} cannot be changed alone",
            remedy="does an alias (*name) share it with another? Write it out by hand",
            file=file,
        )
