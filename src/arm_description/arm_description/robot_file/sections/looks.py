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
from arm_common.yaml.schema_types import ListOf

from arm_description.model.elements import (
    DEFAULT_COLOUR,
    LOOK_SIZES,
    RADII_THAT_MAY_BE_0,
    Colours,
    LookKind,
    LookShape,
    Material,
)
from arm_description.robot_file.robot_keys import COLOURS, LOOK, LOOK_SHAPES, SIZE
from arm_description.robot_file.scope import EvaluationContext
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
    keys = scope.read(LOOK, field)
    kinds = [kind for kind in LOOK_SIZES if kind in keys]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "no shape"
        raise field.error(f"must have one shape, not {found}", f"give {', '.join(LOOK_SHAPES)}")
    kind = kinds[0]
    material = cast(Material, keys.choice("material"))
    colour = read_colour(keys["colour"]) if "colour" in keys else rgba(DEFAULT_COLOUR)
    if material == "glass" and colour[3] == 1.0:
        colour = (*colour[:3], _GLASS_OPACITY)
    size = _look_size(keys[kind], kind, scope)
    return LookShape(kind, size, keys.origin("at"), hex_text(colour), material)


def _look_size(field: Field, kind: LookKind, scope: EvaluationContext) -> tuple[float, ...]:
    key = LOOK_SHAPES[kind]
    several = key.kind if isinstance(key.kind, ListOf) else None
    items = several.items(field, "numbers", f"give {key.meaning}") if several else [field]
    leaf = key.leaf or SIZE
    size = tuple(scope.length(item, leaf) for item in items)
    may_be_0 = RADII_THAT_MAY_BE_0.get(kind, 0)
    for item, value in zip(items[may_be_0:], size[may_be_0:], strict=True):
        SIZE.check(item, value)
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
