# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm export`: a recorded run as an animation, or a moment of it as a vector picture.

export run.mcap run.gif
export run.mcap run.svg --from 10 --to 42.5

An animation shows all that moves, or what happens at a frame.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.cli import number, positive, run, unused
from arm_common.errors import InputError
from arm_common.files.saving import check_writable, write_bytes
from arm_common.ros.node_runner import add_namespace, checked_namespace
from arm_common.terminal import print_line
from arm_common.transforms import Array
from arm_viewer.errors import ViewerError
from PIL import Image, ImageDraw, ImageFont

from arm_studio.pictures.canvas import (
    DARK,
    VIEWS,
    Extent,
    FlatShape,
    draw_canvas,
    draw_text,
    extent_of,
    parallel_canvas,
    shadows,
    title_lines,
)
from arm_studio.pictures.figure import FORMATS
from arm_studio.pictures.raster import Camera, Pixels, render
from arm_studio.pictures.scene_primitives import ScenePrimitives
from arm_studio.pictures.solids import normals, shaded
from arm_studio.ros.recorded_scenes import (
    RecordedScene,
    moving_frames,
    primitives_in,
    scene_topics,
    scenes,
)
from arm_studio.ros.recording_file import RecordingFile, print_notices

FORMAT = "gif"
DEFAULT_LENGTH, CLOSE_LENGTH = 15.0, 25.0  # [s] longest animation without --speed; with --follow
FRAME_RATE = 10.0  # [1/s] of an animation
CORNER = 0.22  # [inch] from the time to the edges of the canvas
_PAPER, _SHADE, _INK = (1.0, 1.0, 1.0), (0.86, 0.88, 0.90), (48, 54, 61)
_MARGIN = 1.12  # of the picture around all that moves
_SIDES = (0.5, 1.0)  # least and largest height of a picture, of its width
_FOLLOWING_SIDE = 9 / 16  # height of a picture of a followed frame, of its width
_CALM = 0.15  # of the picture, where the followed frame moves without the camera
_CLEAR = 2e-4  # height of shadows above the ground [m]
_COLOURS = 96  # of a palette
_TEXT = 1 / 45  # height of letters, of the width
_SMALLEST_TEXT = 11  # [pixel]


def _gif(pictures: Sequence[Pixels]) -> bytes:
    """Return a repeating GIF of pictures (height, width, 3), FRAME_RATE a second.

    All have the palette of three of them, so that what does not move costs nothing.
    """
    some = [pictures[i] for i in np.linspace(0, len(pictures) - 1, 3).astype(int)]
    palette = Image.fromarray(np.vstack(some)).quantize(_COLOURS)
    frames = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
    ]
    file = io.BytesIO()
    lasts = round(1e3 / FRAME_RATE)
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
    where = (width - corner, height - corner)
    lines = "\n".join(title_lines(scene.title, width - 2 * corner, font.getlength))
    pen.text((corner, corner), lines, _INK, font, "la", stroke_width=2, stroke_fill="white")
    time = f"{scene.time:.1f} s"
    pen.text(where, time, _INK, font, "rs", stroke_width=2, stroke_fill="white")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code."""
    return run(_parser(), _export, arguments, (ViewerError, InputError))


def _export(given: argparse.Namespace) -> None:
    kind = given.output.suffix.lstrip(".").lower()
    if kind not in (FORMAT, *FORMATS):
        known = ", .".join((FORMAT, *FORMATS))
        raise ViewerError(f"{given.output}: '{kind}' files are not supported; use .{known}")
    check_writable(str(given.output))
    namespace = checked_namespace(given.namespace)
    topics = scene_topics(namespace)
    recording = RecordingFile(given.file, topics)
    begin, end = _span(given, recording.duration)
    longest = CLOSE_LENGTH if given.follow else DEFAULT_LENGTH
    pace = given.speed or max(1.0, (end - begin) / longest)
    moments = _moments(begin, end, pace) if kind == FORMAT else [begin, end]
    found = list(scenes(recording, moments, given.tool_frame, topics))
    print_notices(recording)
    if not found:
        raise ViewerError(
            f"{given.file}: no arm is visible from {begin:g} to {end:g} s; "
            f"does it contain {namespace}/robot_description and /tf?"
        )
    if kind == FORMAT and given.follow:
        moving = [scene for scene in found if len(scene.path) > 1]
        found = moving or found  # a start is waited for
    shown = [primitives_in(scene, not given.follow) for scene in found]
    if kind == FORMAT:
        data = _animation(found, shown, given)
    else:
        data = _picture(found[-1], shown[-1], given, kind)
    write_bytes(data, given.output)
    sys.stdout.write(f"{given.output}\n")


def _moments(begin: float, end: float, pace: float) -> list[float]:
    count = math.floor((end - begin) / pace * FRAME_RATE) + 1
    return [begin + i * pace / FRAME_RATE for i in range(count)]


def _animation(
    found: Sequence[RecordedScene], shown: Sequence[ScenePrimitives], given: argparse.Namespace
) -> bytes:
    print_line(f"Drawing {len(found)} pictures.")
    pictures = []
    for scene, parts, camera in zip(found, shown, _cameras(found, given), strict=True):
        triangles, colours = _triangles(parts, camera.view, camera.width)
        picture = Image.fromarray(render(triangles, colours, camera, _PAPER))
        _write(picture, scene, parts, camera)
        pictures.append(np.asarray(picture))
    return _gif(pictures)


def _cameras(found: Sequence[RecordedScene], given: argparse.Namespace) -> list[Camera]:
    """Return the camera of each scene: it follows a frame, or sees all that moves in any scene."""
    view = VIEWS[given.view]
    if given.follow:
        wanted = np.array([_place(scene, given.follow) for scene in found])
        field, share = given.field, _FOLLOWING_SIDE
        centres = _steady(wanted @ view.T, field) @ view
    else:
        moving = moving_frames(found)
        action = [primitives_in(scene, moving=moving) for scene in found]
        centre, field, share = _whole(action, view)
        centres = np.tile(centre, (len(found), 1))
    size = (given.width, 2 * round(given.width * share / 2))
    return [Camera(view, centre, field, size) for centre in centres]


def _place(scene: RecordedScene, frame: str) -> Array:
    if frame not in scene.frames:
        raise ViewerError(
            f"the recording has no frame {frame} at {scene.time:.1f} s; see --follow"
        )
    return scene.frames[frame][:3, 3]


def _picture(
    scene: RecordedScene,
    parts: ScenePrimitives,
    given: argparse.Namespace,
    kind: str,
) -> bytes:
    canvas = parallel_canvas(parts.solids, VIEWS[given.view], parts.flat_shapes)

    def annotate(axes: Any) -> None:
        for text, place, _ in parts.labels:
            draw_text(axes, canvas.project(place), text)
        right, low = canvas.size[0] - CORNER, CORNER
        axes.text(right, low, f"{scene.time:.1f} s", color=DARK, ha="right", va="center")

    return draw_canvas(canvas, scene.title, kind, annotate, dpi=given.width / canvas.size[0])


def _span(given: argparse.Namespace, length: float) -> tuple[float, float]:
    """Return the first and last time to draw, since the start of the recording [s]."""
    end = length if given.end is None else given.end
    if not 0.0 <= given.begin <= end <= length:
        raise ViewerError(
            f"from {given.begin:g} to {end:g} s: {given.file} lasts from 0 to {length:.1f} s"
        )
    return given.begin, end


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./arm export",
        description="Draw a recorded run: an animation, or its end with the path of the tool.",
    )
    parser.add_argument("file", type=Path, help="a recording of ./arm record or ros2 bag record")
    parser.add_argument("output", type=Path, help=f"ends in .{FORMAT}, .{', .'.join(FORMATS)}")
    add_namespace(parser)
    parser.add_argument("--view", choices=VIEWS, default="iso", help="direction of view")
    add = parser.add_argument
    add("--from", dest="begin", type=number, default=0.0, help="[s] since its start")
    add("--to", dest="end", type=number, help="[s] (default: the recording's end)")
    speed = f"of an animation (default: at most {DEFAULT_LENGTH:g} s long, {CLOSE_LENGTH:g} s with"
    speed += " --follow)"
    add("--speed", type=positive, help=speed)
    add("--width", type=_width, default=640, help="in pixels")
    add("--follow", default="", help="of an animation: the frame that the camera follows, as nut")
    add("--field", type=positive, default=0.16, help="width of its picture with --follow [m]")
    add("--tool-frame", default="tool0", help="the frame whose path is drawn")
    unused(parser, ["--speed", "--follow", "--field"], _is_picture, "in a picture of the end")
    unused(parser, ["--field"], lambda given: not given.follow, "without --follow")
    return parser


def _is_picture(given: argparse.Namespace) -> bool:
    return str(given.output.suffix).lower() != f".{FORMAT}"


def _width(text: str) -> int:
    value = int(text)
    if not 16 <= value <= 4096:
        raise argparse.ArgumentTypeError(f"{value} is not from 16 to 4096")
    return value


if __name__ == "__main__":
    sys.exit(main())
