# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm export`: a recorded run as an animation, or a moment of it as a vector picture.

export run.mcap run.gif
export run.mcap run.svg --from 10 --to 42.5
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.cli import number, positive, run, unused
from arm_common.errors import InputError
from arm_common.files.saving import check_writable, write_bytes
from arm_common.ros.node_runner import add_namespace, checked_namespace
from arm_common.transforms import Array
from arm_viewer.errors import ViewerError

from arm_studio.pictures.canvas import (
    DARK,
    VIEWS,
    draw_canvas,
    draw_text,
    parallel_canvas,
)
from arm_studio.pictures.figure import FORMATS
from arm_studio.pictures.scene_primitives import ScenePrimitives
from arm_studio.ros.recording.animation import FORMAT, Film, animation
from arm_studio.ros.recording.reader import RecordingFile, print_notices
from arm_studio.ros.recording.scenes import (
    RecordedScene,
    moving_frames,
    primitives_in,
    scene_topics,
    scenes,
)

DEFAULT_LENGTH, CLOSE_LENGTH = 15.0, 25.0  # [s] longest animation without --speed; with --follow
FRAME_RATE = 10.0  # [1/s] of an animation
CORNER = 0.22  # [inch] from the time to the edges of the canvas


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
    sys.stdout.write(f"Drawing {len(found)} pictures.\n")
    sys.stdout.flush()
    centres = None
    if given.follow:
        centres = np.array([_place(scene, given.follow) for scene in found])
    moving = moving_frames(found)
    action = [primitives_in(scene, not given.follow, moving) for scene in found]
    film = Film(shown, VIEWS[given.view], given.width, centres, given.field, action)
    return animation(list(film.pictures(found)), FRAME_RATE)


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

    title = f"{scene.robot.name}: {scene.text}" if scene.text else scene.robot.name
    return draw_canvas(canvas, title, kind, annotate, dpi=given.width / canvas.size[0])


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
