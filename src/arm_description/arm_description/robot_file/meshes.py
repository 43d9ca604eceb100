# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes of links in a robot file. Their files are looked for, but not read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from ..elements import Mesh, Triple
from ..yaml_fields import Field
from .keys import MESH
from .scope import Scope, triple


def read_meshes(field: Field | None, links: Iterable[str], scope: Scope) -> Mapping[str, Mesh]:
    """Read the meshes of links.

    Args:
        field: the section.
        links: names of the links that may have one.
        scope: units and constants.

    Raises:
        DescriptionError: there is no such link or file, or a number is wrong.
    """
    named = field.mapping(links) if field else {}
    return MappingProxyType({link: _read_mesh(mesh, scope) for link, mesh in named.items()})


def _read_mesh(field: Field, scope: Scope) -> Mesh:
    keys = MESH.read(field)
    visual = _uri(keys["visual"])
    return Mesh(
        visual=visual,
        collision=_uri(keys["collision"]) if "collision" in keys else visual,
        scale=_scale(keys["scale"], scope) if "scale" in keys else (1.0, 1.0, 1.0),
        origin=scope.origin(keys.get("origin")),
        source=keys["source"].text() if "source" in keys else "",
    )


def _scale(field: Field, scope: Scope) -> Triple:
    if field.is_list:
        scale = triple(field, scope.number)
    else:
        factor = scope.number(field)
        scale = (factor, factor, factor)
    if 0.0 in scale:
        raise field.error("must not be 0", "write 1, or 0.001 for a mesh in millimetres")
    return scale


def _uri(field: Field) -> str:
    """URI of a file: of a path as file://, relative to the robot file; package:// stays."""
    text = field.text()
    parts = urlsplit(text) if "://" in text else None
    if "$" in text or not text.isprintable():
        raise field.error(f"{text!r} cannot be a file's name here", "rename the file")
    if parts and parts.scheme == "package":
        folder = _package(parts.netloc)
        if folder and not (folder / unquote(parts.path).lstrip("/")).is_file():
            raise field.error(f"there is no {text}", f"it is looked for in {folder}")
        return text
    if parts and parts.scheme != "file":
        raise field.error(f"{parts.scheme}:// is not possible", "write a path, or package://")
    path = Path(field.file).parent / (unquote(parts.path) if parts else text)
    if not path.is_file():
        raise field.error(f"there is no file {text!r}", f"it is looked for in {path.parent}")
    return path.resolve().as_uri()


def _package(name: str) -> Path | None:
    """Share folder of a package, None if it is not here: robots are looked at elsewhere too."""
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        folder = Path(prefix, "share", name)
        if name and folder.is_dir():
            return folder
    return None
