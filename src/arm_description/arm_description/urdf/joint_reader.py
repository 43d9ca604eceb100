# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read one <joint> of a URDF, each value checked. The format: https://wiki.ros.org/urdf/XML."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import cast, get_args

from ..elements import Origin, Triple
from ..errors import UrdfError
from .parts import JointKind, Limit, Mimic, UrdfJoint

KINDS: tuple[str, ...] = get_args(JointKind)


def read_joint(element: ET.Element) -> UrdfJoint:
    """Read and check one <joint>.

    Raises:
        UrdfError: something is missing, or a number is none.
    """
    name = attribute(element, "name", "a joint")
    kind = element.get("type", "")
    if kind not in KINDS:
        raise UrdfError(
            f"joint {name!r} has type {kind!r}", remedy="supported are " + ", ".join(KINDS)
        )
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        if end is None:
            raise UrdfError(f"joint {name!r} has no {tag}")
        ends.append(attribute(end, "link", f"the {tag} of joint {name!r}"))
    return UrdfJoint(
        name,
        cast(JointKind, kind),
        ends[0],
        ends[1],
        _origin(element.find("origin"), name),
        _axis(element.find("axis"), name, kind),
        _limit(element.find("limit"), name, kind),
        _mimic(element.find("mimic"), name),
    )


def _origin(element: ET.Element | None, joint: str) -> Origin:
    if element is None:
        return Origin()
    xyz = _triple(element.get("xyz", "0 0 0"), joint, "xyz")
    return Origin(xyz, _triple(element.get("rpy", "0 0 0"), joint, "rpy"))


def _axis(element: ET.Element | None, joint: str, kind: str) -> Triple:
    """Unit axis; URDF's default is x, and some kinds of joints have none."""
    if element is None or kind in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    x, y, z = _triple(element.get("xyz", ""), joint, "axis")
    size = math.hypot(x, y, z)
    if size < 1e-9:
        raise UrdfError(f"joint {joint!r} has an axis of no length", remedy='write "0 0 1"')
    return (x / size, y / size, z / size)


def _limit(element: ET.Element | None, joint: str, kind: str) -> Limit | None:
    if element is None:
        if kind in ("revolute", "prismatic"):
            raise UrdfError(f"joint {joint!r} has no limit", remedy=f"a {kind} joint needs one")
        return None
    keys = ("lower", "upper", "velocity", "effort")
    limit = Limit(*(_number(element.get(key, "0"), joint, key) for key in keys))
    if limit.lower > limit.upper and kind in ("revolute", "prismatic"):
        raise UrdfError(
            f"joint {joint!r} has the lower limit {limit.lower:g} above its upper limit "
            f"{limit.upper:g}"
        )
    return limit


def _mimic(element: ET.Element | None, joint: str) -> Mimic | None:
    if element is None:
        return None
    return Mimic(
        attribute(element, "joint", f"mimic of joint {joint!r}"),
        _number(element.get("multiplier", "1"), joint, "multiplier"),
        _number(element.get("offset", "0"), joint, "offset"),
    )


def _triple(text: str, joint: str, key: str) -> Triple:
    parts = text.split()
    if len(parts) != 3:
        raise UrdfError(f"joint {joint!r}: {key} must be three numbers, not {text!r}")
    x, y, z = (_number(part, joint, key) for part in parts)
    return (x, y, z)


def _number(text: str, joint: str, key: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UrdfError(f"joint {joint!r}: {key} has {text!r}, which is not a finite number")
    return value


def attribute(element: ET.Element, name: str, what: str) -> str:
    """An attribute that has to be there."""
    text = element.get(name, "")
    if not text:
        raise UrdfError(f"{what} has no {name!r}")
    return text
