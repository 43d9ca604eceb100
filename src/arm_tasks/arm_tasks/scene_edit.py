# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Things moved, added and removed in the text of a scene file: every other character stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import yaml
from arm_description.nearest import nearest
from arm_description.yaml_edit import end_of, value_of, with_entry, with_values

from arm_tasks.errors import SceneError
from arm_tasks.scene_file import scene_from_text
from arm_tasks.scene_keys import THINGS

SECTIONS = ("frames", "bolts", *THINGS)
_MM = 1e-3
_DIGITS = 9


def moved(data: bytes, name: str, xyz: Sequence[float], by: bool, file: str = "scene") -> bytes:
    """Return a scene file with a thing elsewhere.

    Args:
        data: The file, without errors.
        name: The thing.
        xyz: Position (3,) in the frame that it stands on, or displacement there [m].
        by: Whether it is a displacement.
        file: What errors call it.

    Raises:
        SceneError: There is no such thing, or the file would not be right any more.
    """
    section, node = _found(data, name, file)
    key = "xyz_mm" if value_of(node, "xyz_mm") else "xyz"
    scale = 1.0 / _MM if key == "xyz_mm" else 1.0
    old = [float(n.value) for n in cast(yaml.SequenceNode, value_of(node, key)).value]
    new = [v * scale + (o if by else 0.0) for v, o in zip(xyz, old, strict=True)]
    text = ", ".join(f"{round(v, _DIGITS) + 0.0:.10g}" for v in new)
    return _checked(with_values(data, (section, name), {key: f"[{text}]"}), file)


def added(
    data: bytes, section: str, name: str, keys: Mapping[str, str], file: str = "scene"
) -> bytes:
    """Return a scene file with one thing more.

    Args:
        data: The file, without errors.
        section: Such as "pallets".
        name: The thing.
        keys: Its keys, the values as YAML.
        file: What errors call it.

    Raises:
        SceneError: The section is not known, or the thing is not right.
    """
    if section not in SECTIONS:
        raise SceneError(f"there is no section '{section}'; {nearest(section, SECTIONS)}")
    entry = f"{name}: {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}"
    text = data.decode("utf-8-sig")
    there = value_of(_root(text), section)
    if isinstance(there, yaml.MappingNode):
        text = with_entry(text, there, entry)
    else:
        newline = "\r\n" if "\r\n" in text else "\n"
        text = f"{text.rstrip()}{newline}{newline}{section}:{newline}  {entry}{newline}"
    return _checked(text.encode(), file)


def removed(data: bytes, name: str, file: str = "scene") -> bytes:
    """Return a scene file without a thing.

    Args:
        data: The file, without errors.
        name: The thing.
        file: What errors call it.

    Raises:
        SceneError: There is no such thing, or others stand on it.
    """
    section, _ = _found(data, name, file)
    text = data.decode("utf-8-sig")
    root = _root(text)
    parent = cast(yaml.MappingNode, value_of(root, section))
    if len(parent.value) == 1:  # the section goes with its last thing
        parent, name = root, section
    return _checked(_without(text, parent, name).encode(), file)


def _without(text: str, parent: yaml.MappingNode, name: str) -> str:
    index = next(i for i, (key, _) in enumerate(parent.value) if key.value == name)
    key, value = parent.value[index]
    start, end = key.start_mark.index, end_of(value)
    if parent.flow_style:
        if index + 1 < len(parent.value):
            end = parent.value[index + 1][0].start_mark.index
        elif index:
            start = end_of(parent.value[index - 1][1])
        return text[:start] + text[end:]
    line_end = text.find("\n", end)  # with a comment behind it
    return text[: text.rfind("\n", 0, start) + 1] + text[line_end + 1 if line_end >= 0 else end :]


def _found(data: bytes, name: str, file: str) -> tuple[str, yaml.MappingNode]:
    """Return the section of a thing and its keys."""
    root = _root(data.decode("utf-8-sig"))
    names: list[str] = []
    for section in SECTIONS:
        things = value_of(root, section)
        for key, value in things.value if isinstance(things, yaml.MappingNode) else ():
            if key.value == name:
                return section, value
            names.append(str(key.value))
    raise SceneError(f"there is no '{name}' in the scene; {nearest(name, names)}", file)


def _root(text: str) -> yaml.MappingNode:
    return cast(yaml.MappingNode, yaml.compose(text, Loader=yaml.SafeLoader))


def _checked(data: bytes, file: str) -> bytes:
    """Return the text if it is a scene without errors."""
    scene_from_text(data.decode("utf-8-sig"), f"{file} as it would be")
    return data
