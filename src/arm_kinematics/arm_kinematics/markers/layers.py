# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The marker layers: their drawing functions, their inputs, and the changes since last time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from arm_common.plugins import PluginGroup, resolve

from arm_kinematics.errors import KinematicsError
from arm_kinematics.markers.mark import Mark, NumberedMark, alike
from arm_kinematics.markers.state import MarkerInputs


class Cause(Enum):
    """The inputs that a layer depends on."""

    ROBOT = auto()
    JOINTS = auto()
    GOAL = auto()
    IK_ATTEMPT = auto()
    REGION = auto()


@dataclass(frozen=True)
class Layer:
    """Marks that are switched on and off together."""

    function: str  # "module:function", imported when the layer is first drawn
    causes: tuple[Cause, ...]  # the inputs they depend on; a new robot changes all layers
    text: str  # description of the parameter
    on: bool = False  # whether they are shown by default

    @cached_property
    def draw(self) -> Callable[[MarkerInputs], list[Mark]]:
        """The function that draws the marks."""
        draw: Callable[[MarkerInputs], list[Mark]] = resolve(self.function)
        return draw


_FRAMES, _TARGETS, _WORKSPACE = (f"{__package__}.{n}:" for n in ("frames", "targets", "workspace"))
LAYERS = {
    "link_frames": Layer(_FRAMES + "link_frames", (), "Frames of the links, with names."),
    "dh_frames": Layer(
        _FRAMES + "dh_frames", (), "Frames dh_0 .. dh_n, if described, with names."
    ),
    "joint_limits": Layer(
        _FRAMES + "joint_limits", (), "Joint limits as arcs, with the current position."
    ),
    "text": Layer(
        _TARGETS + "text", (Cause.JOINTS,), "Joint positions and the tip's coordinates."
    ),
    "trace": Layer(_TARGETS + "trace", (Cause.JOINTS,), "The tip's path, coloured by time."),
    "goal": Layer(_TARGETS + "goal", (Cause.GOAL,), "Ghost of the arm at its goal.", on=True),
    "target": Layer(
        _TARGETS + "target",
        (Cause.IK_ATTEMPT,),
        "Requested pose, reached pose, residual.",
        on=True,
    ),
    "branches": Layer(
        _TARGETS + "branches", (Cause.IK_ATTEMPT,), "Ghosts of all requested solutions."
    ),
    "reach": Layer(
        _WORKSPACE + "reach", (Cause.REGION,), "Slice through the reachable workspace."
    ),
    "reach_circles": Layer(_WORKSPACE + "reach_circles", (), "Reach circles of a planar arm."),
    "joint_circles": Layer(
        _WORKSPACE + "joint_circles",
        (Cause.JOINTS,),
        "Circle on which each joint carries the next one or the tip, faint outside its limits.",
    ),
    "former_postures": Layer(
        _TARGETS + "former_postures",
        (Cause.JOINTS,),
        "Former postures of the arm; off clears them.",
    ),
    "centres_of_mass": Layer(
        _TARGETS + "centres_of_mass",
        (Cause.JOINTS,),
        "Centres of mass of the links and of the whole arm.",
    ),
    "gravity_torques": Layer(
        _FRAMES + "gravity_torques",
        (Cause.JOINTS,),
        "Computed torques that hold the arm at rest, as shares of the limits.",
    ),
    "manipulability_ellipsoid": Layer(
        _FRAMES + "manipulability_ellipsoid",
        (Cause.JOINTS,),
        "Tip velocities at unit joint speeds.",
    ),
    "velocity_ellipsoid": Layer(
        _FRAMES + "velocity_ellipsoid", (Cause.JOINTS,), "Tip velocities within the speed limits."
    ),
}

_LOGGER = logging.getLogger(__name__)
PLUGINS = PluginGroup("arm_kinematics.marker_layers", "marker layer")


def all_layers() -> dict[str, Layer]:
    """Return the layers by name: the shipped ones, then those of other packages."""
    return LAYERS | PLUGINS.load_all(Layer, _LOGGER.warning)


class MarkerDiff:
    """The visible marks. A layer is redrawn only after one of its causes has changed."""

    def __init__(self, layers: Mapping[str, Layer], on: Iterable[str]) -> None:
        self._layers = layers
        self.inputs: MarkerInputs | None = None  # None until a robot is known
        self._on = set(on)  # names of the visible layers
        self._due: set[str] = set(self._on)
        self._marks: dict[str, list[Mark]] = {}

    def shows(self, layer: str) -> bool:
        """Return whether a layer is switched on."""
        return layer in self._on

    def switch(self, layer: str, on: bool) -> None:
        """Switch a layer on or off."""
        if on != self.shows(layer):
            self._on ^= {layer}
            self._due.add(layer)

    def note_change(self, cause: Cause) -> None:
        """Mark the layers that depend on an input as due."""
        self._due |= {
            name for name in self._on if cause is Cause.ROBOT or cause in self._layers[name].causes
        }

    @property
    def due(self) -> bool:
        """Whether something may have changed since the last call of ``changes``."""
        return bool(self._due)

    def changes(self, complete: bool = False) -> list[NumberedMark]:
        """Redraw the layers that are due; return the changed marks, or all, by layer."""
        changed: list[NumberedMark] = []
        due, self._due = self._due, set()
        for name in self._layers:
            former = self._marks.get(name, [])
            marks = self._marks[name] = self._draw(name) if name in due else former
            for i, mark in enumerate(marks):
                if complete or i >= len(former) or not alike(mark, former[i]):
                    changed.append(NumberedMark(name, i, mark))
            changed += [NumberedMark(name, i, None) for i in range(len(marks), len(former))]
        return changed

    def _draw(self, name: str) -> list[Mark]:
        if self.inputs is None or name not in self._on:
            return []
        try:
            return self._layers[name].draw(self.inputs)
        except KinematicsError:  # e.g. a joint that has not been in joint_states yet
            return []
        except Exception:
            _LOGGER.exception("the marker layer %s failed and is switched off", name)
            self._on.discard(name)
            return []
