# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
"""Read what a robot file says of single links: masses, meshes (not opened), bars of linkages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from arm_common.files.access import installed_share
from arm_common.yaml.document import Field

from arm_description.model.constraints import SLACK
from arm_description.model.elements import (
    Bar,
    Convention,
    Joint,
    LinkMass,
    Mesh,
    Triple,
    mimic_names,
)
from arm_description.robot_file.robot_keys import (
    BAR,
    FACTOR,
    INERTIA,
    LINK_MASS,
    MASS_OR_NONE,
    MESH,
)
from arm_description.robot_file.scope import EvaluationContext, read_name, triple
from arm_description.robot_file.sections.looks import links_with_shapes, read_named, visible_links
from arm_description.robot_model import RobotModel
from arm_description.urdf.optional.bars import bar_links


def with_meshes(model: RobotModel, field: Field, scope: EvaluationContext) -> RobotModel:
    """Return the robot with the meshes of its links; their files must exist."""
    read = partial(_read_mesh, scope=scope)
    return replace(model, meshes=read_named(field, visible_links(model), read))


def _read_mesh(field: Field, scope: EvaluationContext) -> Mesh:
    """Read the mesh of a link; its files must exist."""
    keys = MESH.read(field)
    visual = _uri(keys["visual"], scope.folder)
    return Mesh(
        visual=visual,
        collision=_uri(keys["collision"], scope.folder) if "collision" in keys else visual,
        scale=_scale(keys["scale"], scope) if "scale" in keys else (1.0, 1.0, 1.0),
        origin=scope.origin(keys.get("origin")),
        source=keys.text("source"),
    )


def _scale(field: Field, scope: EvaluationContext) -> Triple:
    def read(item: Field) -> float:
        return scope.number(item, FACTOR)

    return triple(field, read) if field.is_list else (read(field),) * 3


def _uri(field: Field, folder: Path) -> str:
    """Return the URI of a file; a path relative to the robot file becomes file://."""
    text = field.text()
    parts = urlsplit(text) if "://" in text else None
    if "$" in text or not text.isprintable():
        raise field.error(f"{text!r} is not a valid file name", "rename the file")
    if parts and parts.scheme == "package":
        with suppress(LookupError):  # a package that is not installed here
            folder = installed_share(parts.netloc)
            if not (folder / unquote(parts.path).lstrip("/")).is_file():
                raise field.error(f"there is no {text}", f"it was searched for in {folder}")
        return text
    if parts and parts.scheme != "file":
        raise field.error(f"{parts.scheme}:// is not supported", "give a path or package://")
    path = folder / (unquote(parts.path) if parts else text)
    if not path.is_file():
        raise field.error(f"there is no file {text!r}", f"it was searched for in {path.parent}")
    return path.resolve().as_uri()


def with_masses(model: RobotModel, field: Field, scope: EvaluationContext) -> RobotModel:
    """Return the robot with the masses of its moving links, those of bars among them."""
    between = (n for d in model.dependents for n in mimic_names(d.name, d.terms)[:-1])
    links = (
        *links_with_shapes(model)[1:],
        *(f"{name}_link" for name in between),
        *bar_links(model),
    )
    return replace(model, masses=read_named(field, links, partial(_read_link_mass, scope=scope)))


def _read_link_mass(field: Field, scope: EvaluationContext) -> LinkMass:
    """Read the mass of a link: a number, or one with centre and inertia."""
    if not field.is_mapping:
        return LinkMass(scope.number(field, MASS_OR_NONE))
    keys = scope.read(LINK_MASS, field)
    mass = keys.number("value")
    centre = keys.lengths("centre") if "centre" in keys else None
    if "inertia" not in keys:
        return LinkMass(mass, centre)
    moments = scope.read(INERTIA, keys["inertia"])
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    return LinkMass(mass, centre, tuple(map(moments.number, names)))


def with_bars(model: RobotModel, field: Field, scope: EvaluationContext) -> RobotModel:
    """Return the robot with the bars of its linkages; they turn about parallel axes."""
    rows = model.rows
    names = [row.name for row in rows]
    bars: list[Bar] = []
    for item in field.items():
        keys = scope.read(BAR, item)
        bar = Bar(
            name=read_name(keys["name"]),
            beside=keys["beside"].choice(names[:-1]),
            levers=keys["levers"].choice(names),
            at=keys.lengths("at"),
        )
        ends = sorted(map(names.index, (bar.beside, bar.levers)))
        if ends[0] == ends[1]:
            raise keys["levers"].error("is the joint beside it", "name another joint")
        first = ends[0] + (bar.levers == names[ends[0]])  # of the joints that turn the levers
        if not _are_parallel(rows[first : ends[1] + 1], model.convention):
            problem = f"the axes from {names[first]} to {names[ends[1]]} are not parallel"
            raise keys["levers"].error(problem, "a bar is for revolute joints with parallel axes")
        if any(other.name == bar.name for other in bars):
            raise keys["name"].error(f"the name {bar.name!r} is already used", "rename the bar")
        bars.append(bar)
    return replace(model, bars=tuple(bars))


def _are_parallel(rows: Sequence[Joint], convention: Convention) -> bool:
    """Return whether joints turn about parallel axes."""
    between = rows[:-1] if convention == "standard" else rows[1:]
    turns = all(row.type == "revolute" and row.axis == "z" for row in rows)
    return turns and all(abs(row.row.alpha) < SLACK for row in between)
