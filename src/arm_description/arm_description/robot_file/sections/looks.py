# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_looks.py
"""Read what the links of a robot file look like: shapes, and the colours of the skeleton."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, cast

from arm_common.yaml.colours import hex_text, read_colour, rgba
from arm_common.yaml.document import Field

from arm_description.model.elements import (
    DEFAULT_COLOUR,
    MATERIALS,
    Colours,
    LookKind,
    LookShape,
    Material,
    Origin,
)
from arm_description.robot_file.robot_keys import COLOURS, LOOK, LOOK_SHAPES
from arm_description.robot_file.scope import EvaluationContext, triple
from arm_description.robot_model import RobotModel

T = TypeVar("T")
_GLASS_OPACITY = 0.35  # of glass whose colour has no opacity of its own


def links_with_shapes(model: RobotModel) -> tuple[str, ...]:
    """Return the links of a robot that the skeleton shows, base_link first."""
    joints = [joint.name for joint in (*model.joints, *model.dependents)]
    hand = ("gripper", *model.gripper.joints) if model.gripper else ()
    return tuple(f"{name}_link" for name in ("base", *joints, *hand))


def visible_links(model: RobotModel) -> tuple[str, ...]:
    """Return the links that may have a mesh or a look."""
    return (*links_with_shapes(model), "flange", "tool0")


def read_named(
    field: Field | None, links: Iterable[str], read: Callable[[Field], T]
) -> Mapping[str, T]:
    """Read the values of links by name; empty if there is no field."""
    named = field.mapping(links) if field else {}
    return MappingProxyType({link: read(value) for link, value in named.items()})


def read_look(field: Field, scope: EvaluationContext) -> tuple[LookShape, ...]:
    """Read the shapes of a link."""
    return tuple(_read_look_shape(item, scope) for item in field.items())


def _read_look_shape(field: Field, scope: EvaluationContext) -> LookShape:
    keys = LOOK.read(field)
    kinds = [kind for kind in LOOK_SHAPES if kind in keys]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "no shape"
        raise field.error(f"must have one shape, not {found}", f"give {', '.join(LOOK_SHAPES)}")
    kind = cast(LookKind, kinds[0])
    place = {"xyz": triple(keys["at"], scope.length)} if "at" in keys else {}
    place |= {"rpy": triple(keys["rpy"], scope.angle)} if "rpy" in keys else {}
    material = keys["material"].choice(MATERIALS) if "material" in keys else "plastic"
    colour = read_colour(keys["colour"]) if "colour" in keys else rgba(DEFAULT_COLOUR)
    if material == "glass" and colour[3] == 1.0:
        colour = (*colour[:3], _GLASS_OPACITY)
    size, origin = _look_size(keys[kind], kind, scope), Origin(**place)
    return LookShape(kind, size, origin, hex_text(colour), cast(Material, material))


def _look_size(field: Field, kind: LookKind, scope: EvaluationContext) -> tuple[float, ...]:
    if kind == "sphere":
        return (scope.positive_length(field),)
    count, items = {"cylinder": 2, "fillet": 2}.get(kind, 3), field.items()
    if len(items) != count:
        meaning = LOOK_SHAPES[kind].meaning
        raise field.error(f"must be {count} numbers, not {len(items)}", f"give {meaning}")
    size = tuple(map(scope.length, items))
    first_above_0 = {"cone": 2, "fillet": 1}.get(kind, 0)
    for index, (item, value) in enumerate(zip(items, size, strict=True)):
        if value < 0.0 or (value == 0.0 and index >= first_above_0):
            raise item.error("must be greater than 0")
    if kind == "cone" and not any(size[:2]):
        raise field.error("has no radius above 0")
    if kind == "ring" and size[1] >= size[0]:
        raise items[1].error("the inner radius must be below the outer one", "swap them")
    return size


def read_colours(field: Field | None) -> Colours:
    """Read the colours, with defaults for the missing ones."""
    if field is None:
        return Colours()
    keys = COLOURS.read(field)
    colours: dict[str, Any] = {k: _colour(value) for k, value in keys.items() if k != "links"}
    if "links" in keys:
        colours["links"] = tuple(_colour(item) for item in keys["links"].items())
        if not colours["links"]:
            raise keys["links"].error("has no colours", "delete the key or add one")
    return Colours(**colours)


def _colour(field: Field) -> str:
    return hex_text(read_colour(field))
