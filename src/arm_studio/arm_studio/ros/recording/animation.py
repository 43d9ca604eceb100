# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of a recording as an animation: of all that moves, or of what happens at a frame."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from arm_common.transforms import Array
from PIL import Image, ImageDraw, ImageFont

from arm_studio.pictures.canvas import Extent, FlatShape, extent_of, shadows, title_lines
from arm_studio.pictures.raster import Camera, Pixels, render
from arm_studio.pictures.scene_primitives import ScenePrimitives
from arm_studio.pictures.solids import normals, shaded
from arm_studio.ros.recording.scenes import RecordedScene

FORMAT = "gif"
_PAPER, _SHADE, _INK = (1.0, 1.0, 1.0), (0.86, 0.88, 0.90), (48, 54, 61)
_MARGIN = 1.12  # of the picture around all that moves
_SIDES = (0.5, 1.0)  # least and largest height of a picture, of its width
_CALM = 0.15  # of the picture, where the followed frame moves without the camera
_CLEAR = 2e-4  # height of shadows above the ground [m]
_COLOURS = 96  # of a palette
_TEXT = 1 / 45  # height of letters, of the width
_SMALLEST_TEXT = 11  # [pixel]


class Film:
    """Draws scenes with one size and view.

    Args:
        shown: the primitives of all scenes.
        view: rows right, up, towards the eye (3, 3).
        width: of the pictures [pixel].
        centres: what the camera follows in each scene (n, 3) [m]; None for a fixed camera that
            sees all of the action.
        field: width of the picture if the camera follows something [m].
        action: the primitives of the robot and of all else that moves, in all scenes.
    """

    def __init__(
        self,
        shown: Sequence[ScenePrimitives],
        view: Array,
        width: int,
        centres: Array | None,
        field: float,
        action: Sequence[ScenePrimitives],
    ) -> None:
        self._shown, self._view = shown, view
        if centres is None:
            centre, field, share = _whole(action, view)
            centres = np.tile(centre, (len(shown), 1))
        else:
            share = 9 / 16
            centres = _steady(centres @ view.T, field) @ view
        size = (width, 2 * round(width * share / 2))
        self._cameras = [Camera(view, centre, field, size) for centre in centres]

    def pictures(self, scenes: Sequence[RecordedScene]) -> Iterator[Pixels]:
        """Yield the pictures (height, width, 3)."""
        for scene, parts, camera in zip(scenes, self._shown, self._cameras, strict=True):
            triangles, colours = _triangles(parts, self._view, camera.width)
            picture = Image.fromarray(render(triangles, colours, camera, _PAPER))
            _write(picture, scene, parts, camera)
            yield np.asarray(picture)


def animation(pictures: Sequence[Pixels], rate: float) -> bytes:
    """Return a repeating GIF of pictures (height, width, 3), `rate` a second.

    All have the palette of three of them, so that what does not move costs nothing.
    """
    some = [pictures[i] for i in np.linspace(0, len(pictures) - 1, 3).astype(int)]
    palette = Image.fromarray(np.vstack(some)).quantize(_COLOURS)
    frames = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
    ]
    file = io.BytesIO()
    lasts = round(1e3 / rate)
    frames[0].save(file, FORMAT, save_all=True, append_images=frames[1:], duration=lasts, loop=0)
    return file.getvalue()


def _whole(action: Sequence[ScenePrimitives], view: Array) -> tuple[Array, float, float]:
    """Return centre [m], width [m] and height per width of a picture of all the action."""
    extents = (extent_of(parts.solids, view, parts.flat_shapes) for parts in action)
    low, high = reduce(Extent.joined, extents).seen
    width, height = (high - low) * _MARGIN
    share = float(np.clip(height / width, *_SIDES))
    centre = (low + high) / 2.0 @ view[:2]
    return centre, max(width, height / share), share


def _steady(wanted: Array, field: float) -> Array:
    """Return centres (n, 3) near those wanted, which stay while those move little."""
    found = [wanted[0]]
    for centre in wanted[1:]:
        found.append(np.clip(found[-1], centre - _CALM * field, centre + _CALM * field))
    return np.array(found)


def _triangles(parts: ScenePrimitives, view: Array, field: float) -> tuple[Array, Array]:
    """Return triangles (n, 3, 3) [m] and their colours (n, 3)."""
    corners, colours = [], []
    for solid, shadow in zip(parts.solids, shadows(parts.solids), strict=True):
        faces = solid.faces()
        out = normals(faces)
        faces, out = faces[out @ view[2] > 0.0], out[out @ view[2] > 0.0]
        corners += [_halves(faces), _halves(shadow) + np.array([0.0, 0.0, _CLEAR])]
        colours.append(np.repeat(shaded(solid.colour, out), 2, axis=0))
        colours.append(np.tile(_SHADE, (2 * len(shadow), 1)))
    sheets = [part for part in parts.flat_shapes if len(part.points) == 3 and not part.width]
    if sheets:
        points = np.array([part.points for part in sheets])
        out = normals(points)
        out *= np.sign(out @ view[2])[:, None]  # both sides are visible
        corners.append(points)
        light = shaded((1.0, 1.0, 1.0), out)
        colours.append(light * np.array([part.colour for part in sheets]))
    lines = [part for part in parts.flat_shapes if len(part.points) == 2]
    if lines:
        corners.append(_halves(np.array([_ribbon(part, view, field) for part in lines])))
        colours.append(np.repeat([part.colour for part in lines], 2, axis=0))
    return np.vstack(corners), np.vstack(colours)


def _halves(faces: Array) -> Array:
    """Return the two triangles of each face (n, 4, 3)."""
    pairs = np.stack([faces[:, (0, 1, 2)], faces[:, (0, 2, 3)]], axis=1)
    return np.asarray(pairs.reshape(-1, 3, 3))


def _ribbon(line: FlatShape, view: Array, field: float) -> Array:
    """Return a face (4, 3) that shows a line, at least a 400th of the picture wide."""
    a, b = line.points
    across = np.cross(view[2], b - a)
    length = float(np.linalg.norm(across))
    across *= max(line.width, field / 400.0) / 2.0 / max(length, 1e-12)
    return np.array([a - across, b - across, b + across, a + across])


def _write(
    picture: Image.Image, scene: RecordedScene, parts: ScenePrimitives, camera: Camera
) -> None:
    """Write names, the state of the task, and the time."""
    width, height = picture.size
    size = max(_SMALLEST_TEXT, round(width * _TEXT))
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    for text, place, _ in parts.labels:
        column, row, _ = camera.project(place)
        pen.text((column, row), text, _INK, font, "mm", stroke_width=2, stroke_fill="white")
    corner = size // 2
    title = f"{scene.robot.name}: {scene.text}" if scene.text else scene.robot.name
    where = (width - corner, height - corner)
    lines = "\n".join(title_lines(title, width - 2 * corner, font.getlength))
    pen.text((corner, corner), lines, _INK, font, "la", stroke_width=2, stroke_fill="white")
    time = f"{scene.time:.1f} s"
    pen.text(where, time, _INK, font, "rs", stroke_width=2, stroke_fill="white")
