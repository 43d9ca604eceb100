# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_motion.py
"""The panel "Play": trajectory files of the joints or the tool, with a time bar."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from arm_common.errors import InputError, is_utf8
from arm_description.robot_model import RobotModel
from arm_description.trajectories.files import trajectories_for
from arm_description.trajectories.trajectory import JointTrajectory
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import RUN
from arm_viewer.browser.texts import answer_line
from arm_viewer.panels.interface import PageCommand, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.robot import VisualRobot

from arm_studio.editing.file_editing import changed_at
from arm_studio.editing.robot_editing import editing_of
from arm_studio.motion import INTERRUPTED, PAUSED, Playback, Reached

PERIOD = 1.0 / 30.0  # [s] between two positions
NOTHING = "no file yet"
WAYS = {"◀ Back": -1.0, "Pause": 0.0, "Play ▶": 1.0}  # button -> direction of time
SPEEDS = (0.1, 4.0)  # of the speed slider
STEP = 0.01  # of the time bar [s]


class PlayPanel:
    """Plays a file of the robot, or of its folder, by moving the sliders. Ends when one stops."""

    title = "Play"

    def __init__(self, context: PanelContext) -> None:
        self._context, self._editing = context, editing_of(context)
        self._playback = Playback()
        self._files: Mapping[str, Path] = {}
        self._folder, self._seen = self._own_folder(), 0
        if self._editing is not None:
            self._editing.observe(self._follow)
        self._robot: VisualRobot | None = None
        self._name, self._loading = "", 0  # what is loaded; how many files were asked for
        self._shown = 0.0  # of the time bar [s]
        self._way = 0.0  # to play in once the file is read: 1, -1, or 0 for not at all
        self._reached = Reached()
        self._timer = context.every(PERIOD, self._tick)
        self._timer.cancel()

    def build(self, gui: PageGui) -> None:
        """Add the list, the buttons, the time bar, speed and loop."""
        self._gui, add = gui, gui.elements
        hint = "Shipped for this robot, or .csv, .yaml and .txt files beside the robot's file"
        self._list = add.add_dropdown("Trajectory", (NOTHING,), hint=hint)
        gui.on_change(self._list, lambda name: self._load(name))
        buttons = add.add_button_group("", tuple(WAYS))
        gui.on_user(buttons.on_click, self._go, lambda: (WAYS[buttons.value],))
        gui.never_too_late(buttons, lambda label: not WAYS.get(label, 1.0))
        self._bar = add.add_slider("Time [s]", min=0.0, max=1.0, step=STEP, initial_value=0.0)
        gui.on_change(self._bar, self._seek)
        low, high = SPEEDS
        self._speed = add.add_slider("Speed", min=low, max=high, step=0.1, initial_value=1.0)
        gui.on_change(self._speed, self._set_speed)
        gui.checkbox("Loop", False, self._set_loop)
        self._answer = add.add_html(answer_line(""))
        text = "plays a trajectory"
        self._context.commands.add(
            PageCommand("play", "NAME", text, self._command, lambda: self._files, listed=True)
        )

    def update(self, state: PanelState) -> None:
        """Follow another robot, new files in the folder, and the time."""
        if state.robot is not self._robot:
            self._robot, self._seen = state.robot, 0
            self._load("")
        changed = changed_at(self._folder)
        if changed != self._seen:
            self._seen = changed
            self._show_files()
        if self._shown != (shown := self._playback.time(time.monotonic())):
            self._shown = self._bar.value = shown

    def close(self) -> None:
        """Stop."""
        self._timer.cancel()
        self._context.commands.remove("play")

    def _show_files(self) -> None:
        model = self._context.model()
        self._files = {} if model is None else _files(model.name, self._folder)
        self._list.options = (NOTHING, *self._files)
        self._list.value = self._name if self._name in self._files else NOTHING

    def _own_folder(self) -> Path | None:
        """Return the folder of the robot's own file; None for a shipped or new robot."""
        return None if self._editing is None else self._editing.own_folder

    def _follow(self) -> None:
        """Offer the files of the robot that is edited now."""
        if (folder := self._own_folder()) != self._folder:
            self._folder, self._seen = folder, 0
            self._context.redraw()

    def _load(self, name: str, way: float = 0.0) -> None:
        """Read a file in a thread, as the inverse kinematics of a tool's way takes a while."""
        self._loading += 1
        self._name, self._way = name, way
        self._take(None)
        model, file = self._context.model(), self._files.get(name)
        if file is None or model is None:
            return
        model = self._context.limited(model)
        self._say(f"Reading {name} ...")
        threading.Thread(
            target=self._read, args=(file, model, self._loading), name="trajectory", daemon=True
        ).start()

    def _read(self, file: Path, model: RobotModel, number: int) -> None:
        from arm_kinematics.paths.trajectories import read_motion  # a view at rest needs none

        result: JointTrajectory | str
        try:
            result = read_motion(file, model, fit=True)
        except InputError as error:
            result = str(error)
        self._gui.queue.post(lambda: self._receive(result, number))

    def _receive(self, result: JointTrajectory | str, number: int) -> None:
        if number != self._loading:
            return  # Another file has been chosen meanwhile.
        if isinstance(result, str):
            self._say(result)
            return
        self._take(result)
        self._say(f"{self._name}: {result.duration:.2f} s, {len(result.times)} points.")
        if self._way:
            self._go(self._way)

    def _take(self, trajectory: JointTrajectory | None) -> None:
        self._playback.load(trajectory, time.monotonic())
        self._bar.max = max(self._playback.duration, STEP)
        self._shown = self._bar.value = 0.0
        self._timer.cancel()

    def _go(self, way: float) -> None:
        now = time.monotonic()
        if not way:
            self._playback.clock.pause(now)
        elif self._playback.trajectory is None:
            self._way = way  # if a file is being read
            if self._name not in self._files:
                self._say("Choose a trajectory first.")
        else:
            self._say("")
            self._reached.set((), {})
            self._playback.play(way * self._speed.value, now)
            self._timer.reset()

    def _seek(self, seconds: float) -> None:
        self._shown = seconds
        self._playback.seek(seconds, time.monotonic())
        self._reached.set((), {})
        self._move(time.monotonic())

    def _set_speed(self, speed: float) -> None:
        clock = self._playback.clock
        clock.set_rate(speed if clock.rate > 0.0 else -speed, time.monotonic())

    def _set_loop(self, on: bool) -> None:
        self._playback.time(time.monotonic())
        self._playback.loop = on

    def _tick(self) -> None:
        now = time.monotonic()
        self._move(now)
        if not self._playback.clock.running:
            self._timer.cancel()
            self._context.redraw()

    def _move(self, now: float) -> None:
        positions = self._playback.positions(now)
        if self._reached.left(self._context.positions()):
            self._pause(now, INTERRUPTED)
        elif positions and self._context.move(positions):
            self._pause(now, PAUSED)
        else:
            self._reached.set(positions, self._context.positions())

    def _pause(self, now: float, reason: str) -> None:
        self._playback.clock.pause(now)
        self._reached.set((), {})
        self._say(reason)

    def _command(self, words: Sequence[str]) -> str:
        name, *others = words or ("",)
        if name not in self._files or others:
            raise InputError(f"give one of {', '.join(self._files) or 'no trajectories here'}")
        self._list.value = name
        self._load(name, 1.0)
        return f"Playing {name}."

    def _say(self, text: str) -> None:
        self._answer.content = answer_line(text)


def _files(robot: str, folder: Path | None) -> Mapping[str, Path]:
    try:
        files = trajectories_for(robot, folder)
        return {name: path for name, path in files.items() if is_utf8(name)}
    except OSError:  # the folder is gone, or not ours to read
        return trajectories_for(robot, None)


ENTRY = PanelEntry(PlayPanel, 3.1, Where.ALONE, tab=RUN)
