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


_JOINTS, _ATTEMPT = (Cause.JOINTS,), (Cause.IK_ATTEMPT,)


def _shipped(
    module: str, name: str, causes: tuple[Cause, ...], text: str, on: bool = False
) -> tuple[str, Layer]:
    """Return a layer of this package, with its name, which is that of its function."""
    return name, Layer(f"{__package__}.{module}:{name}", causes, text, on)


_ROWS = (
    _shipped("arm", "link_frames", (), "Frames of the links, with names."),
    _shipped("arm", "dh_frames", (), "Frames dh_0 .. dh_n, if described, with names."),
    _shipped("arm", "joint_limits", (), "Joint limits as arcs, with the current position."),
    _shipped("arm", "text", _JOINTS, "Joint positions and the tip's coordinates."),
    _shipped("arm", "trace", _JOINTS, "The tip's path, coloured by time."),
    _shipped("arm", "goal", (Cause.GOAL,), "Ghost of the arm at its goal.", on=True),
    _shipped("arm", "target", _ATTEMPT, "Requested pose, reached pose, residual.", on=True),
    _shipped("arm", "branches", _ATTEMPT, "Ghosts of all requested solutions."),
    _shipped("workspace", "reach", (Cause.REGION,), "Slice through the reachable workspace."),
    _shipped("workspace", "reach_circles", (), "Reach circles of a planar arm."),
    _shipped(
        "workspace",
        "joint_circles",
        _JOINTS,
        "Circle on which each joint carries the next one or the tip, faint outside its limits.",
    ),
    _shipped("arm", "former_postures", _JOINTS, "Former postures of the arm; off clears them."),
    _shipped(
        "arm", "centres_of_mass", _JOINTS, "Centres of mass of the links and of the whole arm."
    ),
    _shipped(
        "arm",
        "gravity_torques",
        _JOINTS,
        "Computed torques that hold the arm at rest, as shares of the limits.",
    ),
    _shipped("arm", "manipulability_ellipsoid", _JOINTS, "Tip velocities at unit joint speeds."),
    _shipped("arm", "velocity_ellipsoid", _JOINTS, "Tip velocities within the speed limits."),
)
LAYERS = dict(_ROWS)

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
