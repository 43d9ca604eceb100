# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/panels/test_look.py
"""Draws tf frames, one node each with the link's visuals below it, and markers.

Only the changes of a republished marker are sent.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from arm_common.transforms import Array
from arm_description.urdf.elements import MOVING, TRUE_FRAMES, is_dh_frame

from arm_viewer.browser.shape_drawer import DrawContext, draw, set_pose, settled
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import Visual, VisualRobot
from arm_viewer.scene.shapes import (
    Colour,
    DrawnShape,
    Lines,
    MeshFile,
    MeshFiles,
    PlacedShape,
    TextLabel,
    Triangles,
    unit_colour,
)
from arm_viewer.scene.store import MarkerKey, PlacedMarker

if TYPE_CHECKING:
    import viser

GHOST = 0.3  # opacity of the commanded arm beside the true one
TRIANGLE_COLOUR, FACE = (128, 64, 191), np.array([[0, 1, 2]])  # it shows how a frame turns
TRIANGLE_UNIT_COLOUR = unit_colour(TRIANGLE_COLOUR, 0.5)
STICK_COLOUR, AXIS_COLOUR = (30, 36, 46), (217, 119, 6)  # of a skeleton
AXIS_PIECES = 6  # of an axis, so that bodies may hide a part of it
AXES_COLOURS: tuple[Colour, ...] = ((0.8, 0, 0, 1.0), (0, 0.8, 0, 1.0), (0, 0, 0.8, 1.0))
INK: Colour = (0.19, 0.21, 0.24, 1.0)  # of texts
ON_TOP = ("centres_of_mass", "dh_frames", "link_frames")  # layers that may be seen through bodies
SAME_PLACE = 0.015  # between frames that share a label, of the robot's size
CORNERS = ("bottom-left", "top-left", "top-right", "bottom-right")


class BodyLook(enum.Enum):
    """How the bodies of the links are drawn."""

    SOLID = "Solid"
    SEE_THROUGH = "See-through"
    WIREFRAME = "Wireframe"
    SKELETON = "Skeleton"  # lines from joint to joint, and the joints' axes


@dataclass
class _Frame:
    node: Any
    label: Any
    triangle: Any
    visuals: list[Any] = field(default_factory=list)
    bodies: tuple[Visual, ...] = ()  # that they show


def _has_axes(frame: str) -> bool:
    """Return False for the true arm's frames and for DH frames, which a layer of markers draws."""
    return not (frame.startswith(TRUE_FRAMES) or is_dh_frame(frame))


class FrameDrawer:
    """The nodes of all frames. Not thread-safe: used by one thread.

    Axes (three for each frame) and labels (its name) are shown or hidden at first, and sized by a
    length that characterises the robot [m].
    """

    def __init__(
        self, scene: viser.SceneApi, meshes: MeshFiles, size: float, axes: bool, labels: bool
    ) -> None:
        self._scene, self._meshes = scene, meshes
        self._size, self._axes, self._labels = size, axes, labels
        self._robot: VisualRobot | None = None
        self._frames: dict[str, _Frame] = {}
        self.poses: dict[str, Array] = {}  # of the frames, (4, 4), fixed <- frame
        self._chosen: dict[str, bool] = {}  # frames that are switched by themselves
        self._look, self._opacity = BodyLook.SOLID, 1.0
        self._sticks: Any = None

    def set_look(self, look: BodyLook, opacity: float) -> list[ViewerError]:
        """Draw the bodies in a look; the opacity, 0 to 1, is that of see-through ones."""
        former, self._look = self._look, look
        self._opacity = opacity if look is BodyLook.SEE_THROUGH else 1.0
        if look is former is BodyLook.SEE_THROUGH:
            for frame in self._frames.values():
                for visual in frame.visuals:
                    visual.opacity = self._opacity
            return []
        return self._redraw()

    def set_robot(self, robot: VisualRobot, size: float) -> list[ViewerError]:
        """Draw another robot's visuals on the existing frames."""
        self._robot, self._size = robot, size
        for frame in self._frames.values():
            frame.node.axes_length, frame.node.axes_radius = self._axes_size()
            frame.triangle.vertices = self._corners()
        return self._redraw(keep=True)

    def _redraw(self, keep: bool = False) -> list[ViewerError]:
        """Draw the bodies again; if `keep`, only those that have changed."""
        problems: list[ViewerError] = []
        for name, frame in self._frames.items():
            if not (keep and _adapt_bodies(frame, self._bodies(name))):
                self._draw_bodies(name, problems)
        self._draw_sticks()
        return problems

    def move(self, poses: Mapping[str, Array]) -> list[ViewerError]:
        """Move frames, adding new ones: name -> (4, 4), fixed <- frame."""
        problems: list[ViewerError] = []
        self.poses |= poses
        for name, pose in poses.items():
            if name in self._frames:
                set_pose(self._frames[name].node, pose)
            else:
                self._frames[name] = self._add(name, pose)
                self._draw_bodies(name, problems)
                self._redraw_ghost(name, problems)
        if poses:
            self._draw_sticks()
            self._write_names()
        return problems

    def remove(self, name: str) -> None:
        """Remove a frame, if it is drawn, and everything attached to it."""
        self.poses.pop(name, None)
        if (frame := self._frames.pop(name, None)) is not None:
            frame.node.remove()
            self._redraw_ghost(name, [])
            self._write_names()

    def switch(self, axes: bool, labels: bool) -> None:
        """Show or hide axes and names."""
        if axes is not self._axes:
            self._chosen = {name: on for name, on in self._chosen.items() if not _has_axes(name)}
        self._axes, self._labels = axes, labels
        for name in self._frames:
            self._show(name)
        self._write_names()

    def is_shown(self, name: str) -> bool:
        """Return whether a frame's axes are shown."""
        return self._chosen.get(name, self._axes and _has_axes(name))

    def switch_frame(self, name: str, on: bool) -> None:
        """Show or hide one frame, whatever holds for all."""
        self._chosen[name] = on
        if name in self._frames:
            self._show(name)
            self._write_names()

    def _show(self, name: str) -> None:
        """Show or hide the axes of a frame."""
        frame = self._frames[name]
        frame.node.show_axes = frame.triangle.visible = self.is_shown(name)

    def _add(self, name: str, pose: Array) -> _Frame:
        length, radius = self._axes_size()
        node = self._scene.add_frame(
            node_of(name),
            show_axes=self.is_shown(name),
            axes_length=length,
            axes_radius=radius,
            origin_radius=1.4 * radius,
            origin_color=(90, 98, 110),
        )
        label = self._scene.add_label(
            f"{node_of(name)}/label",
            name,
            visible=False,
            font_screen_scale=0.75,
            anchor=self._free_corner(pose),
        )
        triangle = self._scene.add_mesh_simple(
            f"{node_of(name)}/triangle",
            self._corners(),
            FACE,
            color=TRIANGLE_COLOUR,
            opacity=0.5,
            side="double",
            cast_shadow=False,
            visible=self.is_shown(name),
        )
        return _Frame(settled(node, pose), label, triangle)

    def _write_names(self) -> None:
        """Show or hide the names; frames at one place share a label, with a name a line."""
        named: list[tuple[Array, list[str]]] = []
        for name in self._frames if self._labels else ():
            if not self._chosen.get(name, _has_axes(name)):
                continue
            here = self.poses[name][:3, 3]
            gaps = ((np.linalg.norm(place - here), names) for place, names in named)
            names = next((names for gap, names in gaps if gap < SAME_PLACE * self._size), None)
            if names is None:
                named.append((here, [name]))
            else:
                names.append(name)
        texts = {names[0]: "\n".join(names) for _, names in named}
        for name, frame in self._frames.items():
            if (text := texts.get(name, "")) and frame.label.text != text:
                frame.label.text = text
            if frame.label.visible != bool(text):
                frame.label.visible = bool(text)

    def _free_corner(self, pose: Array) -> Any:
        """Return a side for the name, so that names of frames near each other do not overlap."""
        positions = [frame.node.position for frame in self._frames.values()]
        gaps = np.linalg.norm(np.reshape(positions, (-1, 3)) - pose[:3, 3], axis=1)
        return CORNERS[int((gaps < 0.04 * self._size).sum()) % len(CORNERS)]

    def _redraw_ghost(self, name: str, problems: list[ViewerError]) -> None:
        """Draw the link of a true frame that came or went again, faint or not."""
        link = name.removeprefix(TRUE_FRAMES)
        if link != name and link in self._frames:
            self._draw_bodies(link, problems)

    def _bodies(self, frame: str) -> tuple[Visual, ...]:
        """Return the bodies to be drawn on a frame."""
        if self._robot is None or self._look is BodyLook.SKELETON:
            return ()
        link = frame.removeprefix(TRUE_FRAMES)
        return tuple(visual for visual in self._robot.visuals if visual.link == link)

    def _draw_bodies(self, name: str, problems: list[ViewerError]) -> None:
        """Draw the bodies of a frame in place of those drawn before."""
        frame = self._frames[name]
        for handle in frame.visuals:
            handle.remove()
        frame.visuals, frame.bodies = [], self._bodies(name)
        for number, body in enumerate(self._placed_bodies(name, frame)):
            node = f"{node_of(name)}/visual_{number}"
            context = DrawContext(self._scene, self._meshes, node, body.pose, body.colour)
            try:
                frame.visuals.append(draw(body.shape, context))
                if body.wireframe:
                    frame.visuals[-1].wireframe = True
            except ViewerError as error:
                problems.append(error)

    def _placed_bodies(self, name: str, frame: _Frame) -> Iterator[PlacedShape]:
        """Yield the bodies of a frame in the present look, posed in that frame."""
        opacity = GHOST if f"{TRUE_FRAMES}{name}" in self._frames else 1.0
        opacity *= self._opacity
        for visual in frame.bodies:
            colour = (*visual.colour[:3], opacity * visual.colour[3])
            shape, wires = self._in_look(visual.shape), self._look is BodyLook.WIREFRAME
            yield PlacedShape(shape, visual.pose, colour, wires)

    def placed(self) -> Iterator[PlacedShape]:
        """Yield all that is drawn, posed in the fixed frame."""
        for name, frame in self._frames.items():
            T = self.poses[name]
            for body in self._placed_bodies(name, frame):
                yield body._replace(pose=T @ body.pose)
            if self.is_shown(name):
                yield from axes_at(T, *self._axes_size())
                triangle = Triangles(self._corners(), None)
                yield PlacedShape(triangle, T, TRIANGLE_UNIT_COLOUR, on_top=True)
            if frame.label.visible:
                yield PlacedShape(TextLabel(frame.label.text, 0.0), T, INK)
        if self._sticks is not None:
            colours = np.repeat([[colour] for _, colour in self._stick_lines()], 2, axis=1)
            lines = Lines(self._sticks.points, colours / 255.0, 0.014 * self._size)
            yield PlacedShape(lines, np.eye(4), INK)

    def _in_look(self, shape: DrawnShape) -> DrawnShape:
        """Return a shape that can be drawn in the look: glTF is solid and has its own colours."""
        if isinstance(shape, MeshFile) and self._look is not BodyLook.SOLID:
            return replace(shape, own_colours=False)
        return shape

    def _draw_sticks(self) -> None:
        """Draw or remove the skeleton."""
        lines = [] if self._look is not BodyLook.SKELETON else self._stick_lines()
        if not lines:
            if self._sticks is not None:
                self._sticks.remove()
                self._sticks = None
            return
        points = np.array([line for line, _ in lines])
        if self._sticks is not None and len(self._sticks.points) == len(points):
            self._sticks.points = points
            return
        colours = np.array([[colour, colour] for _, colour in lines], dtype=np.uint8)
        self._sticks = self._scene.add_line_segments(
            "/skeleton", points, colours, thickness=0.014 * self._size
        )

    def _stick_lines(self) -> list[tuple[Array, tuple[int, int, int]]]:
        """Return the lines of the skeleton, (2, 3) each in the fixed frame, with their colours."""
        carriers = {} if self._robot is None else self._robot.carriers
        lines = []
        for link, joint in carriers.items():
            if is_dh_frame(link) or not {link, joint.parent} <= self.poses.keys():
                continue
            here, before = self.poses[link], self.poses[joint.parent]
            lines.append((np.array([before[:3, 3], here[:3, 3]]), STICK_COLOUR))
            if joint.kind in MOVING:
                along = 0.05 * self._size * (here[:3, :3] @ np.array(joint.axis))
                lines.append((np.array([here[:3, 3] - along, here[:3, 3] + along]), AXIS_COLOUR))
        return lines

    def _corners(self) -> Array:
        """Return the corners of the triangle between x and y of a frame, (3, 3) [m]."""
        return np.array(0.5 * self._axes_size()[0] * (np.eye(3) * (1.0, 1.0, 0.0)))

    def _axes_size(self) -> tuple[float, float]:
        return 0.09 * self._size, 0.003 * self._size


def axes_at(T: Array, length: float, radius: float) -> Iterator[PlacedShape]:
    """Yield the axes of a frame (4, 4) with their length and radius [m], as viser draws them."""
    stops = np.linspace(0.0, length, AXIS_PIECES + 1)
    for k, colour in enumerate(AXES_COLOURS):
        points = stops[:, None] * np.eye(3)[k]
        pieces = np.stack([points[:-1], points[1:]], axis=1)
        yield PlacedShape(Lines(pieces, None, 2.0 * radius), T, colour, on_top=True)


def _adapt_bodies(frame: _Frame, bodies: tuple[Visual, ...]) -> bool:
    """Move the drawn bodies of a frame if the new ones look the same; return whether they do."""
    alike = [(b.shape, b.colour) for b in bodies] == [(b.shape, b.colour) for b in frame.bodies]
    if not alike or len(frame.visuals) != len(bodies):
        return False
    for handle, former, body in zip(frame.visuals, frame.bodies, bodies, strict=True):
        if not np.array_equal(former.pose, body.pose):
            set_pose(handle, body.pose)
    frame.bodies = bodies
    return True


def node_of(frame: str) -> str:
    """Return the name of a frame's node in viser's scene tree."""
    return f"/frames/{quoted(frame)}"


def quoted(name: str) -> str:
    """Return a name as one level of the scene tree; different names stay different."""
    return quote(name, safe="") or "%"


@dataclass
class _Drawn:
    name: str
    placed: PlacedMarker
    handle: Any


class MarkerDrawer:
    """The nodes of all markers. Not thread-safe: used by one thread."""

    def __init__(self, scene: viser.SceneApi, meshes: MeshFiles) -> None:
        self._scene, self._meshes = scene, meshes
        self._drawn: dict[MarkerKey, _Drawn] = {}

    def draw(self, key: MarkerKey, placed: PlacedMarker) -> list[ViewerError]:
        """Draw a marker that is new, has changed, or was only published again."""
        name = node_name(key, placed)
        drawn = self._drawn.get(key)
        if drawn is not None and drawn.name == name and _adapt(drawn, placed):
            return []
        if drawn is not None and drawn.name != name:
            self.erase(key)
        drawing = placed.drawing
        context = DrawContext(self._scene, self._meshes, name, placed.pose, drawing.colour)
        try:
            handle = draw(drawing.shape, context)  # Replaces a node of the same name.
        except ViewerError as error:
            self.erase(key)
            return [error]
        self._drawn[key] = _Drawn(name, placed, handle)
        return []

    def placed(self, frames: Mapping[str, Array]) -> Iterator[PlacedShape]:
        """Yield all that is drawn, posed in the fixed frame: name -> (4, 4), fixed <- frame."""
        for key, drawn in self._drawn.items():
            frame, drawing = drawn.placed.frame, drawn.placed.drawing
            T = frames[frame] @ drawn.placed.pose if frame else drawn.placed.pose
            on_top = key.namespace in ON_TOP
            yield PlacedShape(drawing.shape, T, drawing.colour, on_top=on_top)

    def erase(self, key: MarkerKey) -> None:
        """Remove a marker, if it was drawn."""
        drawn = self._drawn.pop(key, None)
        if drawn is not None:
            drawn.handle.remove()


def node_name(key: MarkerKey, placed: PlacedMarker) -> str:
    """Return the name of a marker's node, a child of its frame's node."""
    parent = node_of(placed.frame) if placed.frame else ""
    return f"{parent}/markers/{quoted(key.topic)}/{quoted(key.namespace)}/{key.id}"


def _adapt(drawn: _Drawn, placed: PlacedMarker) -> bool:
    """Update a drawn marker's pose and text; return False if it must be redrawn."""
    old, new = drawn.placed.drawing, placed.drawing
    if isinstance(old.shape, TextLabel) and isinstance(new.shape, TextLabel):
        if old.shape.height != new.shape.height:
            return False
        drawn.handle.text = new.shape.text
    elif old.shape != new.shape or old.colour != new.colour:
        return False
    if not np.array_equal(drawn.placed.pose, placed.pose):
        set_pose(drawn.handle, placed.pose)
    drawn.placed = placed
    return True
