# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drawings for a pen: the lines of an SVG file, or a line of text in single strokes.

A drawing lies in the frame of its paper: x to the right, y up, z out of the paper, with the middle
of its page at the origin, as that of a surface of a scene. The pen is along the tool's z.
svgelements applies transforms, viewBox and units (SVG 2, chapter 8; a px is 1/96 inch).
Hershey-Fonts has the strokes of A. V. Hershey's letters (Calligraphy for computers, 1967).
"""

from __future__ import annotations

import argparse
import importlib
import io
import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess, read_text
from arm_common.suggestions import install_command
from arm_common.transforms import Array
from arm_common.yaml.schema_types import MAX_LENGTH

from arm_common import cli
from arm_description.errors import DescriptionError
from arm_description.trajectories.trajectory import DrawingOptions, ToolTrajectory

_LOGGER = logging.getLogger(__name__)
SVG = ".svg"
MAX_SVG_BYTES = 4_000_000
MAX_DRAWING_POINTS = 20_000
MAX_LETTERS = 200
_MAX_CLONES = 1_000
_PIXEL = 0.0254 / 96.0  # [m]
_FLATNESS = 5e-5  # largest distance of a curve from its chords [m]
_CHORDS = 2_048  # of one curve
_SHORTEST = 2e-5  # chord; a shorter one is left out [m]
_FONT = "futural"  # Hershey's simplex sans serif
_CAPITAL = (9.0, 21.0)  # y of its base line, downwards, and height of its capital letters


@dataclass(frozen=True, eq=False)
class PenDrawing:
    """Lines on a page."""

    # (m, 2) each, x to the right and y up from the page's lower left corner [m]
    strokes: Sequence[Array]
    size: tuple[float, float]  # width and height of the page [m]


def read_svg(path: Path, files: FileAccess = ANY_FILE) -> PenDrawing:
    """Read the visible lines and outlines of an SVG file.

    Raises:
        DescriptionError: it is no SVG, too large, or has no lines.
    """
    text = read_text(path, MAX_SVG_BYTES, DescriptionError, files)
    library = _library("svgelements", "svgelements", str(path))
    _check_clones(text, str(path))
    try:
        svg = library.SVG.parse(io.StringIO(text), reify=True)
        outlines = [library.Path(each) for each in _visible(svg, library)]
    except (ValueError, TypeError, AttributeError, ZeroDivisionError, LookupError) as error:
        problem = f"cannot be read as SVG ({type(error).__name__})"
        raise DescriptionError(problem, remedy="save it as plain SVG", file=str(path)) from None
    written = sum(isinstance(each, library.Text) for each in svg.elements())
    strokes: list[Array] = []
    for outline in outlines:
        strokes += _strokes(outline, library)
        if sum(map(len, strokes)) > MAX_DRAWING_POINTS:
            problem = f"has more than {MAX_DRAWING_POINTS} points"
            raise DescriptionError(problem, remedy="simplify its paths", file=str(path))
    if not strokes:
        what = "has only text" if written else "has no lines to draw"
        raise DescriptionError(what, remedy="convert text and objects to paths", file=str(path))
    if written:
        _LOGGER.warning("%s: its text is not drawn; convert it to paths", path)
    return _on_page(strokes, svg, str(path))


def _library(module: str, package: str, file: str = "") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        problem = f"the library {package} is missing"
        raise DescriptionError(problem, remedy=install_command(package), file=file) from None


def _check_clones(text: str, file: str) -> None:
    """Refuse a text that is no SVG, or whose clones multiply."""
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise DescriptionError(
            f"is not XML: {error}", remedy="save it as plain SVG", file=file
        ) from None
    if root.tag.rpartition("}")[2] != "svg":
        raise DescriptionError("is XML, but not SVG", remedy="save it as plain SVG", file=file)
    clones = [each for each in root.iter() if each.tag.rpartition("}")[2] == "use"]
    names = {value.removeprefix("#") for each in clones for key, value in each.items()
             if key.rpartition("}")[2] == "href"}  # fmt: skip
    originals = [each for each in root.iter() if each.get("id") in names]
    nested = any(inner in clones for each in originals for inner in each.iter())
    if nested or len(clones) > _MAX_CLONES:
        what = "has clones of clones" if nested else f"has {len(clones)} clones"
        raise DescriptionError(what, remedy="unlink the clones in your drawing program", file=file)


def _visible(svg: Any, library: Any) -> Iterator[Any]:
    for each in svg.elements():
        if isinstance(each, library.Shape):
            hidden = each.values.get("visibility") in ("hidden", "collapse")
            if not hidden:
                yield each


def _strokes(outline: Any, library: Any) -> list[Array]:
    """Return the lines of a path (m, 2) in px, y down."""
    strokes: list[list[Array]] = []
    for part in outline:
        if isinstance(part, library.Move):
            strokes.append([])
        elif part.start is not None and part.end is not None:
            points = _flattened(part, isinstance(part, library.Line | library.Close))
            if not strokes:
                strokes.append([])
            strokes[-1].append(points[1:] if strokes[-1] else points)
    return [line for parts in strokes if parts and len(line := _thinned(np.vstack(parts))) > 1]


def _flattened(part: Any, straight: bool) -> Array:
    """Return points of a piece of a path (m, 2), dense enough for its curvature [px]."""
    if straight:
        return np.array([[p.x, p.y] for p in (part.start, part.end)], dtype=float)
    count = 8
    while True:
        points = np.asarray(part.npoint(np.linspace(0.0, 1.0, 2 * count + 1)), dtype=float)
        middles = 0.5 * (points[:-2:2] + points[2::2])
        away = np.abs(points[1::2] - middles).max()
        if not away * _PIXEL > _FLATNESS or count >= _CHORDS:
            return points
        count *= 2


def _thinned(points: Array) -> Array:
    """Return points (m, 2) [px] without those that repeat the one before."""
    kept = [points[0]]
    for point in points[1:]:
        if float(np.abs(point - kept[-1]).max()) * _PIXEL > _SHORTEST:
            kept.append(point)
    return np.array(kept)


def _on_page(strokes: Sequence[Array], svg: Any, file: str) -> PenDrawing:
    """Return strokes [px, y down] on the page of the file, or on their bounding box without."""
    points = np.vstack(strokes)
    if not np.isfinite(points).all():
        raise DescriptionError(
            "has a coordinate that is no number", remedy="save it again", file=file
        )
    low, high = points.min(axis=0), points.max(axis=0)
    if svg.viewbox is not None or {"width", "height"} <= svg.values.keys():
        low, high = np.zeros(2), np.array([svg.width, svg.height], dtype=float)
    size = (high - low) * _PIXEL
    flipped = [np.column_stack([s[:, 0] - low[0], high[1] - s[:, 1]]) * _PIXEL for s in strokes]
    return PenDrawing(flipped, (max(float(size[0]), _SHORTEST), float(size[1])))


def write_text(text: str, height: float) -> PenDrawing:
    """Return a line of text in single strokes, with capital letters of a height [m].

    Raises:
        DescriptionError: the text is empty or too long, or the font lacks a letter.
    """
    font = _library("HersheyFonts", "Hershey-Fonts").HersheyFonts()
    font.load_default_font(_FONT)
    missing = sorted({letter for letter in text if letter not in font.all_glyphs or letter > "~"})
    if missing:
        problem = f"the font has no {', '.join(map(repr, missing))}"
        raise DescriptionError(problem, remedy="use letters of ASCII, or draw an SVG")
    if not text.strip() or len(text) > MAX_LETTERS:
        problem = f"a text of {len(text)} characters" if text.strip() else "an empty text"
        raise DescriptionError(
            f"cannot write {problem}", remedy=f"write 1 to {MAX_LETTERS} letters"
        )
    base, capital = _CAPITAL
    scale = height / capital
    strokes = [np.array(stroke, dtype=float) for stroke in font.strokes_for_text(text)]
    strokes = [stroke for stroke in strokes if len(stroke) > 1]
    start = min(float(stroke[:, 0].min()) for stroke in strokes)
    placed = [np.column_stack([s[:, 0] - start, base - s[:, 1]]) * scale for s in strokes]
    return PenDrawing(placed, (max(float(s[:, 0].max()) for s in placed), height))


def text_path(text: str, options: DrawingOptions) -> ToolTrajectory:
    """Return the path of a pen that writes a line of text; errors are those of write_text()."""
    return pen_path(write_text(text, options.height), options, "the text")


def pen_path(drawing: PenDrawing, options: DrawingOptions, file: str) -> ToolTrajectory:
    """Return the path of the pen along a drawing in the frame of the paper.

    The pen is lifted before, between and after the lines.

    Raises:
        DescriptionError: the drawing gets too large.
    """
    scale = 1.0 if options.width is None else options.width / drawing.size[0]
    middle, up = 0.5 * np.array(drawing.size), np.array([0.0, 0.0, options.lift])
    strokes = [(stroke - middle) * scale + options.at for stroke in drawing.strokes]
    farthest = max(float(np.abs(stroke).max()) for stroke in strokes)
    if not farthest <= MAX_LENGTH:
        problem = f"a line reaches {farthest:.4g} m, but nothing may be larger than"
        raise DescriptionError(
            f"{problem} {MAX_LENGTH:g} m", remedy="scale it by --width", file=file
        )
    rows = []
    for stroke in strokes:
        down = np.column_stack([stroke, np.zeros(len(stroke))])
        rows += [down[:1] + up, down, down[-1:] + up]
    points = np.vstack(rows)
    points = points[np.r_[True, _lengths(points) > 0.0]]
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(points), 1, 1))
    poses[:, :3, 3] = points
    along = np.concatenate([[0.0], np.cumsum(_lengths(points))])
    return ToolTrajectory(poses, None, along, "position_axis")


def add_drawing(parser: argparse.ArgumentParser) -> None:
    """Add the options of a drawing, which drawing_options() reads, to those of a `file`."""
    add = parser.add_argument
    add("--text", default="", help="write this line instead of a file, in single strokes")
    add(
        "--width-mm",
        type=cli.positive,
        help="scale the text, or the page of the SVG, to this width",
    )
    add(
        "--height-mm",
        type=cli.positive,
        default=10.0,
        help="height of the capital letters of a text",
    )
    at = "middle of the drawing on the paper"
    add("--at-mm", type=cli.number, nargs=2, default=(0.0, 0.0), metavar=("X", "Y"), help=at)
    add(
        "--lift-mm",
        type=cli.positive,
        default=10.0,
        help="how far to lift the pen between two lines",
    )
    cli.unused(parser, ["--height-mm"], lambda given: not given.text, "without --text")
    placed = ["--width-mm", "--at-mm", "--lift-mm"]
    plain = "without --text or an SVG file"
    cli.unused(parser, placed, lambda given: not draws(given), plain)


def drawing_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the words of the options of a drawing that were given, for another process."""
    if not draws(arguments):
        return ()
    width = (f"--width-mm={arguments.width_mm}",) if arguments.width_mm else ()
    height = (f"--text={arguments.text}", f"--height-mm={arguments.height_mm}")
    at = ("--at-mm", *map(str, arguments.at_mm), f"--lift-mm={arguments.lift_mm}")
    return (*(height if arguments.text else ()), *width, *at)


def draws(arguments: argparse.Namespace) -> bool:
    """Return True if the arguments have a text, or the name of an SVG file."""
    return bool(arguments.text) or arguments.file.lower().endswith(SVG)


def drawing_options(arguments: argparse.Namespace) -> DrawingOptions:
    """Return the options that add_drawing() has added."""
    x, y = arguments.at_mm
    width = arguments.width_mm
    return DrawingOptions(
        width=None if width is None else 1e-3 * width,
        height=1e-3 * arguments.height_mm,
        at=(1e-3 * x, 1e-3 * y),
        lift=1e-3 * arguments.lift_mm,
    )


def _lengths(points: Array) -> Array:
    return np.asarray(np.linalg.norm(np.diff(points, axis=0), axis=1))
