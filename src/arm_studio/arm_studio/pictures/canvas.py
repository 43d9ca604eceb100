# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of solids with shadows on a ground grid, drawn by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import ArrayLike

from arm_studio.pictures.figure import figure_file
from arm_studio.pictures.painting_order import back_to_front
from arm_studio.pictures.solids import (
    LIGHT,
    ParallelProjection,
    PinholeProjection,
    Projection,
    Rgb,
    Solid,
    normals,
    shaded,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK = "#30363d"  # of texts and lines
_SIZE = 6.0  # larger side of the drawing [inch]
_MARGIN = 0.35
_GRID, _MAIN_GRID = np.array((0.933, 0.941, 0.949)), np.array((0.80, 0.83, 0.87))
_MAIN = 5  # steps between two main lines of a camera's ground
_SHADE = "#e3e6ea"
_SQUARE = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
_FROM_ABOVE = 0.1  # sine of the least elevation for which the ground is drawn as a plane
_SEAM, _POINTS = 0.7, 72.0  # width of the line that closes seams [pt]; points per inch
_TITLE = 11  # size of the title's letters [pt]
_LINE = 0.2  # distance of its lines [inch]
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "font.size": 9,
    "text.parse_math": False,
}


def _seen_from(azimuth_deg: float, elevation_deg: float) -> Matrix:
    """Return the axes of a view (rows right, up, towards the eye) in base_link."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    c, s, level = math.cos(azimuth), math.sin(azimuth), math.cos(elevation)
    towards, right = np.array((level * c, level * s, math.sin(elevation))), np.array((-s, c, 0.0))
    return np.array((right, np.cross(towards, right), towards))


# base_link has x forward, y to the left, z up (REP 103).
VIEWS: Mapping[str, Matrix] = {
    "iso": _seen_from(-52.0, 24.0),
    "rear": _seen_from(-118.0, 22.0),
    "front": _seen_from(0.0, 0.0),
    "side": _seen_from(-90.0, 0.0),
    "top": _seen_from(-90.0, 90.0),
}


@dataclass(frozen=True, eq=False)
class FlatShape:
    """A face that belongs to no solid and is visible from both sides, a line, or a dot."""

    points: Matrix  # (k, 3) corners of a convex face, ends of a line, or a dot, in base_link [m]
    colour: Rgb  # red, green, blue, 0 .. 1
    width: float = 0.0  # of the line or dot [m]; 0 for a face
    opacity: float = 1.0


@dataclass(frozen=True)
class Patch:
    """A visible face or a line: points (k, 2) right and up, colour, and line width in the view."""

    points: Matrix
    colour: Vector  # (3,), or (4,) with an opacity
    width: float = 0.0


_Seen: TypeAlias = tuple[Patch, Matrix, bool]  # its points in the view; whether of a solid


def patches(
    solids: Sequence[Solid], projection: Projection, flat: Sequence[FlatShape] = ()
) -> list[Patch]:
    """Return the visible faces, shaded, from back to front; faces that intersect are cut."""
    seen = list[_Seen]()
    for solid in solids:
        seen += _solid_patches(solid, projection)
    for part in flat:
        points = projection.seen(part.points)
        if np.isfinite(points).all():
            seen.append((_flat_patch(part, points, projection), points, False))
    order = back_to_front([points for _, points, _ in seen], [wall for *_, wall in seen])
    return [
        replace(seen[i][0], points=points[:, :2]) if seen[i][2] or len(points) > 1 else seen[i][0]
        for i, points in order
    ]


def _flat_patch(part: FlatShape, seen: Matrix, projection: Projection) -> Patch:
    """Return how a flat shape appears, whose points are seen at (k, 3)."""
    colour, width = np.array(part.colour), part.width
    if width:
        width *= projection.magnification(float(seen[:, 2].mean()))
    else:
        out = normals([part.points])
        side = normals([seen])[0, 2]
        colour = shaded(part.colour, out if side > 0.0 else -out)[0]
    if part.opacity < 1.0:
        colour = np.append(colour, part.opacity)
    if len(seen) == 1:  # a dot
        return Patch(seen[0, :2] + 0.5 * width * _SQUARE, colour)
    return Patch(seen[:, :2], colour, width)


def _solid_patches(solid: Solid, projection: Projection) -> Iterator[_Seen]:
    """Yield the visible faces of a solid."""
    faces = solid.faces()
    seen = projection.seen(faces)
    complete = np.isfinite(seen).all(axis=(1, 2))
    faces, seen = faces[complete], seen[complete]
    shown = normals(seen)[:, 2] > 1e-6
    colours = shaded(solid.colour, normals(faces[shown]))
    if solid.opacity < 1.0:
        colours = np.column_stack((colours, np.full(len(colours), solid.opacity)))
    for corners, colour in zip(seen[shown], colours, strict=True):
        yield Patch(corners[:, :2], colour), corners, True


def shadows(solids: Sequence[Solid], level: float = 0.0) -> list[Matrix]:
    """Return the shadows of the lit faces on the ground at a level [m], (n, 4, 3) a solid [m]."""
    found = []
    for solid in solids:
        faces = solid.faces()
        lit = faces[normals(faces) @ LIGHT > 0.0]
        ground = lit - np.maximum(lit[..., 2:] - level, 0.0) * (LIGHT / LIGHT[2])
        ground[..., 2] = level
        found.append(ground)
    return found


@dataclass(frozen=True)
class Extent:
    """Area that a picture must cover."""

    seen: Matrix  # (2, 2) minimum and maximum right, up [m]
    ground: Matrix  # (2, 2) minimum and maximum x, y of the shadows [m]

    def joined(self, other: Extent) -> Extent:
        """Return the extent of both, so that many postures fit in one frame."""
        pairs = ((self.seen, other.seen), (self.ground, other.ground))
        return Extent(*(np.array((np.minimum(*p)[0], np.maximum(*p)[1])) for p in pairs))


def extent_of(solids: Sequence[Solid], view: Matrix, flat: Sequence[FlatShape] = ()) -> Extent:
    """Return the extent of solids, their shadows, and flat shapes."""
    on_ground = np.vstack(shadows(solids)).reshape(-1, 3)
    corners = [solid.faces().reshape(-1, 3) for solid in solids]
    points = np.vstack((*corners, on_ground, *(part.points for part in flat))) @ view[:2].T
    return Extent(
        np.array((points.min(axis=0), points.max(axis=0))),
        np.array((on_ground.min(axis=0)[:2], on_ground.max(axis=0)[:2])),
    )


@dataclass(frozen=True, eq=False)
class Canvas:
    """A scene projected onto a canvas."""

    projection: Projection
    patches: Sequence[Patch]  # from back to front
    shadows: Sequence[Matrix]  # (n, 4, 2) of each solid, in the view
    grid: Sequence[Patch]  # lines of the ground; empty if it is seen from the side, as a line
    step: float  # length of the scale bar [m]; 0 for none
    scale: float  # inches per unit of the view
    offset: Vector  # (2,) of the view's middle [inch]
    size: Vector  # width and height [inch]

    def to_inches(self, points: Matrix) -> Matrix:
        """Convert points (..., 2) of the view to points on the canvas [inch]."""
        placed: Matrix = points * self.scale + self.offset
        return placed

    def project(self, point: Vector) -> Vector:
        """Convert a point (3,) in base_link [m] to (2,) on the canvas [inch]."""
        return self.to_inches(self.projection.seen(point)[:2])


def parallel_canvas(
    solids: Sequence[Solid], view: Matrix, flat: Sequence[FlatShape] = ()
) -> Canvas:
    """Return a parallel projection onto a canvas that covers all that is given.

    Args:
        solids: the bodies.
        view: rows right, up, towards the eye.
        flat: faces, lines and dots.
    """
    projection = ParallelProjection(view)
    extent = extent_of(solids, view, flat)
    limit = 0.27 * float(np.ptp(extent.seen, axis=0).max())
    power = 10.0 ** math.floor(math.log10(limit))
    step = max(n * power for n in (1.0, 2.0, 5.0) if n * power <= limit)
    low, high = extent.ground / step
    field = np.floor(low) * step, np.ceil(high) * step
    corners = [(x, y, 0.0) for x, y in product(*np.transpose(field))]
    points = np.vstack((extent.seen, np.array(corners) @ view[:2].T))
    low, high = points.min(axis=0), points.max(axis=0)
    scale = _SIZE / max(float((high - low).max()), 1e-6)
    corner = np.array((_MARGIN, _MARGIN + 0.3))
    lines = grid_lines(*field, step) if view[2, 2] > _FROM_ABOVE else ()
    grid = [Patch(projection.seen(line)[:, :2], _GRID) for line in lines]
    return Canvas(
        projection,
        patches(solids, projection, flat),
        [projection.seen(shadow)[..., :2] for shadow in shadows(solids)],
        grid,
        step,
        scale,
        corner - low * scale,
        (high - low) * scale + 2 * corner,
    )


@dataclass(frozen=True)
class Ground:
    """The ground of a camera's picture."""

    level: float  # its z [m]
    step: float  # between the lines of its grid [m]
    radius: float  # of the grid, which fades with the distance from the origin [m]


def camera_canvas(
    layers: Sequence[tuple[Sequence[Solid], Sequence[FlatShape]]],
    camera: PinholeProjection,
    ground: Ground,
    field_of_view: float,
    size: Vector,
) -> Canvas:
    """Return what a camera sees; what it does not see is left out.

    Args:
        layers: bodies, with faces, lines and dots; the later ones hide the earlier ones.
        camera: where it is.
        ground: where the ground is.
        field_of_view: from the lower to the upper edge of the canvas [rad].
        size: width and height of the canvas [inch].
    """
    scale = 0.5 * float(size[1]) / math.tan(0.5 * field_of_view)
    edge = 0.5 * np.asarray(size) / scale

    def inside(points: Matrix) -> bool:
        seen = np.isfinite(points).all()
        return bool(seen and (points.max(0) > -edge).all() and (points.min(0) < edge).all())

    painted = [part for layer in layers for part in patches(layer[0], camera, layer[1])]
    shapes = [part for part in painted if inside(part.points)]
    opaque = [solid for solids, _ in layers for solid in solids if solid.opacity >= 1.0]
    fallen = [camera.seen(shadow)[..., :2] for shadow in shadows(opaque, ground.level)]
    shade = [np.array([f for f in faces if inside(f)]).reshape(-1, 4, 2) for faces in fallen]
    grid = [part for part in _faded_grid(camera, ground) if inside(part.points)]
    return Canvas(camera, shapes, shade, grid, 0.0, scale, 0.5 * np.asarray(size), np.array(size))


def _faded_grid(camera: PinholeProjection, ground: Ground) -> Iterator[Patch]:
    """Yield the pieces of the ground's lines, the fainter the further from the origin."""
    count = math.ceil(ground.radius / ground.step)
    reach = np.full(2, count * ground.step)
    paper = np.ones(3)
    for number, (start, end) in enumerate(grid_lines(-reach, reach, ground.step)):
        ways = np.linspace(0.0, 1.0, 2 * count + 1)[:, None]
        points = start + ways * (end - start) + np.array((0.0, 0.0, ground.level))
        main = (number % (2 * count + 1) - count) % _MAIN == 0
        for piece in pairwise(points):
            line = np.array(piece)
            share = 1.0 - float(np.linalg.norm(line[:, :2].mean(axis=0))) / ground.radius
            if share > 0.0:
                colour = paper + share * ((_MAIN_GRID if main else _GRID) - paper)
                yield Patch(camera.seen(line)[:, :2], colour)


def grid_lines(low: Vector, high: Vector, step: float) -> Iterator[Matrix]:
    """Yield the lines (2, 3) of a grid on the ground z = 0 between two corners (2,) [m]."""
    for k in (0, 1):
        for at in np.arange(low[k], high[k] + step / 2, step):
            ends = np.zeros((2, 3))
            ends[:, k], ends[:, 1 - k] = at, (low[1 - k], high[1 - k])
            yield ends


def draw_canvas(
    canvas: Canvas,
    title: str,
    kind: str,
    annotate: Callable[[Axes], None] = lambda axes: None,
    margin: float = 0.0,
    dpi: float = 200.0,
) -> bytes:
    """Draw a canvas and return the contents of a file.

    Args:
        canvas: the projected scene.
        title: title of the picture.
        kind: one of figure.FORMATS.
        annotate: draws annotations, in inches.
        margin: extra width on the right for annotations [inch].
        dpi: resolution of a PNG.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        width = canvas.size[0] + margin
        lines = title_lines(title, width - _MARGIN, _measured)
        height = canvas.size[1] + (len(lines) - 1) * _LINE
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, width)
        axes.set_ylim(0.0, height)
        _ground(axes, canvas)
        _patches(axes, canvas, opaque=kind in ("eps", "ps"))
        annotate(axes)
        for number, line in enumerate(lines):
            at = height - 0.22 - number * _LINE
            axes.text(_MARGIN / 2, at, line, color=DARK, fontsize=_TITLE, va="center")
        return figure_file(figure, kind, dpi)


def title_lines(title: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Return a title in lines that are at most as wide as `width`, if no word is wider.

    `measure` returns the width of a text.
    """
    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and measure(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _measured(text: str) -> float:
    """Return the width of a line of the title [inch]."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0.0, 0.0), text, size=_TITLE).get_extents().x1) / _POINTS


def draw_text(
    axes: Axes, at: ArrayLike, text: str, colour: str = DARK, size: float | None = None
) -> None:
    """Write a text centred at a point (2,) [inch], with a white outline for legibility.

    The size of its letters is in points; by default that of all texts.
    """
    from matplotlib.patheffects import Stroke

    x, y = np.asarray(at, dtype=float).tolist()
    style: dict[str, Any] = {"size": size, "ha": "center", "va": "center"}
    outline = [Stroke(linewidth=2.2, foreground="white")]  # drawn as lines; text stays text
    axes.text(x, y, text, color="white", path_effects=outline, **style)
    axes.text(x, y, text, color=colour, **style)


def _ground(axes: Axes, canvas: Canvas) -> None:
    """Draw the ground grid and shadows, or a line in a side view, and a scale bar."""
    if canvas.grid:
        lines = [canvas.to_inches(part.points) for part in canvas.grid]
        colours = [tuple(part.colour) for part in canvas.grid]
        _polygons(axes, lines, edgecolors=colours, linewidths=0.8, zorder=0)
        flat = [canvas.to_inches(face) for shadow in canvas.shadows for face in shadow]
        _polygons(axes, flat, facecolors=_SHADE, edgecolors=_SHADE, linewidths=0.4, zorder=0.5)
    elif canvas.step:
        level = canvas.project(np.zeros(3))[1]
        axes.plot((0.2, canvas.size[0] - 0.2), (level, level), color=_SHADE, linewidth=1.5)
    if canvas.step:
        _scale_bar(axes, canvas)


def _scale_bar(axes: Axes, canvas: Canvas) -> None:
    """Draw a scale bar of one grid step, labelled with its length."""
    step = canvas.step
    left, y = _MARGIN / 2, 0.22
    right = left + step * canvas.scale
    ends = ((left, y + 0.04), (left, y - 0.04), (left, y), (right, y))
    bar = np.array((*ends, (right, y - 0.04), (right, y + 0.04)))
    axes.plot(bar[:, 0], bar[:, 1], color=DARK, linewidth=1.0)
    text = f"{step:g} m" if step >= 1.0 else f"{step * 1000:g} mm"
    axes.text(right + 0.08, y, text, color=DARK, va="center")


def _patches(axes: Axes, canvas: Canvas, opaque: bool) -> None:
    """Draw all patches; opaque ones instead of translucent ones look as on white paper."""
    colours = [_on_paper(part.colour) if opaque else part.colour for part in canvas.patches]
    flat = [canvas.to_inches(patch.points) for patch in canvas.patches]
    widths = [max(_SEAM, _POINTS * patch.width * canvas.scale) for patch in canvas.patches]
    edges = [_edge(part, colour) for part, colour in zip(canvas.patches, colours, strict=True)]
    _polygons(axes, flat, facecolors=colours, edgecolors=edges, linewidths=widths)


def _edge(patch: Patch, colour: Vector) -> Vector:
    """Return the colour of an edge: none around a translucent face, which it would darken."""
    is_face = len(patch.points) > 2
    return np.append(colour[:3], 0.0) if is_face and len(colour) > 3 else colour


def _on_paper(colour: Vector) -> Vector:
    """Return a colour without opacity that looks as one with opacity does on white paper."""
    opacity = float(colour[3]) if len(colour) > 3 else 1.0
    return 1.0 + opacity * (colour[:3] - 1.0)


def _polygons(axes: Axes, corners: Sequence[Matrix], **style: Any) -> None:
    from matplotlib.collections import PolyCollection

    axes.add_collection(PolyCollection(corners, **style))
