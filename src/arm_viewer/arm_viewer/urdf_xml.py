# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Small readers for URDF attributes that say which element is wrong, and how."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
from arm_description.transforms import rpy_matrix

from .errors import UrdfError
from .shapes import Array

Element = ElementTree.Element


def parse(xml: str) -> Element:
    """Return the <robot> element of a URDF text.

    Raises:
        UrdfError: If the text is not XML, or not a robot.
    """
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise UrdfError("", f"not XML ({error}); give a URDF text, not a file name") from error
    if root.tag != "robot":
        raise UrdfError("", f"the outer element is <{root.tag}>, it must be <robot>")
    return root


def name_of(element: Element) -> str:
    """Return `tag "name"` for error messages."""
    return f'{element.tag} "{element.get("name", "")}"'


def number(element: Element, key: str, where: str, default: float | None = None) -> float:
    """Return a finite number from an attribute.

    Raises:
        UrdfError: If it is missing (and has no default), no number, or not finite.
    """
    text = element.get(key)
    if text is None:
        if default is None:
            raise UrdfError(where, f'<{element.tag}> lacks the attribute "{key}"')
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UrdfError(where, f'<{element.tag} {key}="{text}"> is not a finite number')
    return value


def numbers(
    element: Element | None, key: str, where: str, default: tuple[float, ...]
) -> tuple[float, ...]:
    """Return as many finite numbers from an attribute as the default has.

    Raises:
        UrdfError: If the count differs or one of them is not a finite number.
    """
    text = None if element is None else element.get(key)
    if element is None or text is None:
        return default
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != len(default) or not all(map(math.isfinite, values)):
        raise UrdfError(
            where, f'<{element.tag} {key}="{text}"> must hold {len(default)} finite numbers'
        )
    return values


def origin(element: Element, where: str) -> Array:
    """Return the (4, 4) pose of an element's <origin>; the identity if it has none.

    xyz in metres; rpy about the fixed axes, in radians (URDF's convention).
    """
    node = element.find("origin")
    xyz = np.array(numbers(node, "xyz", where, (0.0, 0.0, 0.0)))
    rpy = np.array(numbers(node, "rpy", where, (0.0, 0.0, 0.0)))
    return np.asarray(rpy_matrix(xyz, rpy), dtype=float)
