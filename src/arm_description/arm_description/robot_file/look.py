# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Colours of a robot file."""

from __future__ import annotations

import re

from ..elements import Colours
from ..yaml_fields import Field
from .keys import COLOURS

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def read_colours(field: Field | None) -> Colours:
    """Read the colours, the default ones where none are given.

    Raises:
        DescriptionError: not of the form "#rrggbb".
    """
    if field is None:
        return Colours()
    default = Colours()
    keys = COLOURS.read(field)
    one = {key: _colour(value) for key, value in keys.items() if key != "links"}
    links = default.links
    if "links" in keys:
        links = tuple(_colour(item) for item in keys["links"].items())
        if not links:
            raise keys["links"].error("has no colours", "delete the key or add one")
    return Colours(
        base=one.get("base", default.base),
        links=links,
        joints=one.get("joints", default.joints),
        gripper=one.get("gripper", default.gripper),
        fingers=one.get("fingers", default.fingers),
    )


def _colour(field: Field) -> str:
    text = field.raw('a colour in quotes, such as "#4c78a8"')
    if not _COLOUR.fullmatch(text):
        raise field.error(f"{text!r} is not a colour", 'write for example "#4c78a8", in quotes')
    return text.lower()
