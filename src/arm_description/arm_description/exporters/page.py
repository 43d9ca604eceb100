# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of solids with shadows on a ground grid, drawn by matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import ArrayLike

from arm_description.exporters.figure import save_figure
from arm_description.exporters.solids import LIGHT, Rgb, Solid, normals, painting_ranks, shaded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK = "#30363d"  # of texts and lines
_SIZE = 6.0  # larger side of the drawing [inch]
_MARGIN = 0.35
_GRID, _SHADE = "#eef0f2", "#e3e6ea"
_FROM_ABOVE = 0.1  # sine of the least elevation for which the ground is drawn as a plane
_SEAM, _POINTS = 0.35, 72.0  # width of the line that closes seams [pt]; points per inch
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
    """A face that belongs to no solid and is visible from both sides, or a line."""

    points: Matrix  # (k, 3) corners of a convex face, or the ends of a line, in base_link [m]
    colour: Rgb  # red, green, blue, 0 .. 1
    width: float = 0.0  # of the line [m]; 0 for a face


@dataclass(frozen=True)
class Patch:
    """A visible face or a line: points (k, 2) right and up [m], colour and line width [m]."""

    points: Matrix
    colour: Vector  # (3,), or (4,) with an opacity
    width: float = 0.0


def patches(solids: Sequence[Solid], view: Matrix, flat: Sequence[FlatShape] = ()) -> list[Patch]:
    """Return the visible faces, shaded, from back to front.

    Faces of intersecting solids are sorted by depth. The rows of the view are right, up, towards
    the eye.
    """
    faces = [solid.faces() for solid in solids]
    ranks = painting_ranks(faces, [part.points for part in flat], view)
    found = []
    for part in flat:  # both sides are visible
        seen, colour = part.points @ view.T, np.array(part.colour)
        if not part.width:
            out = normals([part.points])
            colour = shaded(part.colour, out if out[0] @ view[2] > 0.0 else -out)[0]
        patch = Patch(seen[:, :2], colour, part.width)
        found.append((len(solids), float(seen[:, 2].mean()), patch))
    for solid, polygons, rank in zip(solids, faces, ranks, strict=True):
        out = normals(polygons)
        shown = out @ view[2] > 1e-6
        colours, seen = shaded(solid.colour, out[shown]), polygons[shown] @ view.T
        if solid.opacity < 1.0:
            colours = np.column_stack((colours, np.full(len(colours), solid.opacity)))
        for corners, colour in zip(seen, colours, strict=True):
            found.append((rank, float(corners[:, 2].mean()), Patch(corners[:, :2], colour)))
    return [patch for *_, patch in sorted(found, key=lambda entry: entry[:2])]


def shadows(solids: Sequence[Solid]) -> list[Matrix]:
    """Return the shadows of the lit faces on the ground z = 0, (n, 4, 3) for each solid [m]."""
    found = []
    for solid in solids:
        faces = solid.faces()
        lit = faces[normals(faces) @ LIGHT > 0.0]
        ground = lit - np.maximum(lit[..., 2:], 0.0) * (LIGHT / LIGHT[2])
        ground[..., 2] = 0.0
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


class Page:
    """Projection of a scene onto a page.

    The page covers the extent, by default that of the solids and flat shapes.
    """

    def __init__(
        self,
        solids: Sequence[Solid],
        view: Matrix,
        flat: Sequence[FlatShape] = (),
        extent: Extent | None = None,
    ) -> None:
        extent = extent or extent_of(solids, view, flat)
        self.view = view
        self.patches = patches(solids, view, flat)  # from back to front
        # shadow of each solid in the view (n, 4, 2) [m]
        self.shadows = [(shadow @ view.T)[..., :2] for shadow in shadows(solids)]
        # grid spacing, and length of the scale bar [m]
        limit = 0.27 * float(np.ptp(extent.seen, axis=0).max())
        power = 10.0 ** math.floor(math.log10(limit))
        self.step = max(n * power for n in (1.0, 2.0, 5.0) if n * power <= limit)
        low, high = extent.ground / self.step
        # minimum and maximum x, y of the drawn ground [m]
        self.field = np.floor(low) * self.step, np.ceil(high) * self.step
        corners = [(x, y, 0.0) for x, y in product(*np.transpose(self.field))]
        points = np.vstack((extent.seen, np.array(corners) @ view[:2].T))
        low, high = points.min(axis=0), points.max(axis=0)
        self.scale = _SIZE / max(float((high - low).max()), 1e-6)  # inches per metre
        corner = np.array((_MARGIN, _MARGIN + 0.3))
        self.offset = corner - low * self.scale
        self.size = (high - low) * self.scale + 2 * corner  # width and height [inch]

    def to_inches(self, points: Matrix) -> Matrix:
        """Convert points (..., 2) of the view [m] to points on the page [inch]."""
        placed: Matrix = points * self.scale + self.offset
        return placed

    def project(self, point: Vector) -> Vector:
        """Convert a point (3,) in base_link [m] to (2,) on the page [inch]."""
        placed: Vector = self.to_inches((self.view[:2] @ point)[None, :])[0]
        return placed


def draw_page(
    page: Page,
    title: str,
    kind: str,
    annotate: Callable[[Axes], None] = lambda axes: None,
    margin: float = 0.0,
    dpi: float = 200.0,
) -> bytes:
    """Draw a page and return the contents of a file.

    Args:
        page: the projected scene.
        title: title of the picture.
        kind: one of figure.FORMATS.
        annotate: draws annotations, in inches.
        margin: extra width on the right for annotations [inch].
        dpi: resolution of a PNG.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        width = page.size[0] + margin
        lines = title_lines(title, width - _MARGIN, _measured)
        height = page.size[1] + (len(lines) - 1) * _LINE
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, width)
        axes.set_ylim(0.0, height)
        _ground(axes, page)
        _patches(axes, page)
        annotate(axes)
        for number, line in enumerate(lines):
            at = height - 0.22 - number * _LINE
            axes.text(_MARGIN / 2, at, line, color=DARK, fontsize=_TITLE, va="center")
        file = io.BytesIO()
        save_figure(figure, file, kind, dpi)
    return file.getvalue()


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


def draw_text(axes: Axes, at: ArrayLike, text: str, colour: str = DARK) -> None:
    """Write a text centred at a point (2,) [inch], with a white outline for legibility."""
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=2.2, foreground="white")]
    x, y = np.asarray(at, dtype=float).tolist()
    axes.text(x, y, text, color=colour, ha="center", va="center", path_effects=outline)


def _ground(axes: Axes, page: Page) -> None:
    """Draw the ground grid and shadows, or a line in a side view, and a scale bar."""
    if page.view[2, 2] > _FROM_ABOVE:
        _grid(axes, page)
        flat = [page.to_inches(face) for shadow in page.shadows for face in shadow]
        _polygons(axes, flat, facecolors=_SHADE, edgecolors=_SHADE, linewidths=0.4, zorder=0.5)
    else:
        level = page.project(np.zeros(3))[1]
        axes.plot((0.2, page.size[0] - 0.2), (level, level), color=_SHADE, linewidth=1.5)
    _scale_bar(axes, page)


def _grid(axes: Axes, page: Page) -> None:
    low, high = page.field
    for k in (0, 1):
        for at in np.arange(low[k], high[k] + page.step / 2, page.step):
            ends = np.zeros((2, 3))
            ends[:, k], ends[:, 1 - k] = at, (low[1 - k], high[1 - k])
            line = np.array([page.project(end) for end in ends])
            axes.plot(line[:, 0], line[:, 1], color=_GRID, linewidth=0.8, zorder=0)


def _scale_bar(axes: Axes, page: Page) -> None:
    """Draw a scale bar of one grid step, labelled with its length."""
    step = page.step
    left, y = _MARGIN / 2, 0.22
    right = left + step * page.scale
    ends = ((left, y + 0.04), (left, y - 0.04), (left, y), (right, y))
    bar = np.array((*ends, (right, y - 0.04), (right, y + 0.04)))
    axes.plot(bar[:, 0], bar[:, 1], color=DARK, linewidth=1.0)
    text = f"{step:g} m" if step >= 1.0 else f"{step * 1000:g} mm"
    axes.text(right + 0.08, y, text, color=DARK, va="center")


def _patches(axes: Axes, page: Page) -> None:
    colours = [tuple(patch.colour) for patch in page.patches]
    flat = [page.to_inches(patch.points) for patch in page.patches]
    widths = [max(_SEAM, _POINTS * patch.width * page.scale) for patch in page.patches]
    _polygons(axes, flat, facecolors=colours, edgecolors=colours, linewidths=widths)


def _polygons(axes: Axes, corners: Sequence[Matrix], **style: Any) -> None:
    from matplotlib.collections import PolyCollection

    axes.add_collection(PolyCollection(corners, **style))
