# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Motion": a function of time for each joint and each constant, and one clock."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from arm_common.errors import InputError
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import RUN
from arm_viewer.browser.texts import answer_line, from_display, set_problem
from arm_viewer.panels.interface import PageCommand, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.robot import VisualJoint, VisualRobot

from arm_studio.editing.robot_editing import editing_of
from arm_studio.motion import INTERRUPTED, PAUSED, VARIABLE, Clock, Reached, TimeFunctions

PERIOD = 1.0 / 30.0  # [s] between two positions
SLOW_PERIOD = 0.2  # [s] between two values of constants, for each describes another robot
PAUSE = "Pause"
BUTTONS = ("Start", PAUSE, "Zero")
HINT = "A function of the time t in seconds, such as {}; empty: the slider"
EXAMPLES = {False: "30*sin(90*t)", True: "20 + 10*cos(180*t)"}  # by whether it slides
CONSTANT_HINT = "Also a function of t, such as {}*(1 + 0.2*sin(90*t)); undo takes it all back"
START_FIRST = "Functions move their joints once the clock starts."


class MotionPanel:
    """Moves joints by functions of one endless clock, within their limits; also constants.

    The clock is paused by whatever keeps the arm from moving, so that nothing moves by itself
    after a reset, and by whatever else moves these joints.
    """

    title = "Motion"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._clock, self._functions = Clock(), TimeFunctions()
        self._reached = Reached()
        self._symbols: tuple[Any, ...] = ()  # what the fields of constants were made for
        self._lengths = TimeFunctions()
        self._described = -math.inf  # when constants were changed last [s]
        self._editing = editing_of(context)
        if self._editing is not None:
            self._editing.observe(self._follow)
        self._robot: VisualRobot | None = None
        self._joints: dict[str, VisualJoint] = {}
        self._fields: dict[str, Any] = {}  # of the joints
        self._problems: dict[str, Any] = {}  # below the fields of joints and constants
        self._folder: Any = None
        self._shown = ""
        self._timer = context.every(PERIOD, self._tick)
        self._timer.cancel()

    def build(self, gui: PageGui) -> None:
        """Add the clock and the place of the functions."""
        self._gui, add = gui, gui.elements
        self._time = add.add_html(clock_line(0.0))
        buttons = add.add_button_group("Clock", BUTTONS)
        gui.on_user(buttons.on_click, self._press, lambda: (buttons.value,))
        gui.never_too_late(buttons, lambda label: label == PAUSE)
        self._answer = add.add_html(answer_line(""))
        self._folder = add.add_folder("Functions of t")
        self._constants = add.add_folder("Constants as functions of t", visible=False)
        text = "moves joints by functions of time: starts, pauses or zeroes their clock"
        words = tuple(button.lower() for button in BUTTONS)
        self._context.commands.add(
            PageCommand(
                "clock",
                "|".join(words),
                text,
                self._command,
                lambda: words,
                listed=True,
                pause=PAUSE.lower(),
            )
        )

    def update(self, state: PanelState) -> None:
        """Follow another robot, and show the time."""
        if state.robot is not self._robot and state.robot is not None:
            self._robot = state.robot
            self._show_fields(state.robot)
        self._follow()
        line = clock_line(self._clock.at(time.monotonic()))
        if line != self._shown:
            self._shown = self._time.content = line

    def close(self) -> None:
        """Stop the clock."""
        self._timer.cancel()
        self._context.commands.remove("clock")

    def _show_fields(self, robot: VisualRobot) -> None:
        """Show a field for each joint; joints of the same name keep their functions."""
        before = [(joint.name, joint.prismatic) for joint in self._joints.values()]
        self._joints = {joint.name: joint for joint in robot.joints if joint.mimic is None}
        if before == [(joint.name, joint.prismatic) for joint in self._joints.values()]:
            return  # Someone may be typing.
        texts = {name: field.value for name, field in self._fields.items()}
        self._functions.keep(frozenset(self._joints))
        with self._gui.emptied(self._folder):
            self._fields = {n: self._field(n, texts.get(n, "")) for n in self._joints}

    def _follow(self) -> None:
        """Show a field for each constant of the robot file."""
        editing = self._editing
        if editing is None or self._folder is None:
            return
        symbols = (editing.path, editing.editor.symbols())
        if symbols == self._symbols:
            return
        self._symbols = symbols
        self._lengths = TimeFunctions()
        with self._gui.emptied(self._constants):
            for name in editing.editor.symbols():
                hint = CONSTANT_HINT.format(name)
                self._gui.text(name, "", partial(self._set_constant, name), hint=hint)
                self._add_problem(name)
        self._constants.visible = bool(editing.editor.symbols())

    def _set_constant(self, name: str, text: str) -> None:
        editing = self._editing
        assert editing is not None
        if not self._lengths.names:  # functions may refer to the constants as they are now
            values = {n: f"{v:.17g}" for n, v in editing.editor.model.constants.items()}
            values.pop(VARIABLE, None)
            self._lengths = TimeFunctions(values)
        self._enter(self._lengths, name, text)

    def _field(self, name: str, text: str) -> Any:
        joint = self._joints[name]
        label = f"{name}, {'mm' if joint.prismatic else '°'}"
        hint = HINT.format(EXAMPLES[joint.prismatic])
        field = self._gui.text(label, text, partial(self._set, name), hint=hint)
        self._add_problem(name)
        return field

    def _add_problem(self, name: str) -> None:
        """Add the place below a field where its wrong entries are explained."""
        self._problems[name] = self._gui.elements.add_html("", visible=False)

    def _set(self, name: str, text: str) -> None:
        self._enter(self._functions, name, text)

    def _enter(self, functions: TimeFunctions, name: str, text: str) -> None:
        problem = ""
        try:
            functions.set(name, text, self._now())
        except InputError as error:
            problem = str(error)
        set_problem(self._problems[name], problem)
        self._say("" if problem or self._clock.running or not self._any else START_FIRST)

    @property
    def _any(self) -> bool:
        return bool(self._functions.names or self._lengths.names)

    def _press(self, button: str) -> None:
        now = time.monotonic()
        self._say("")
        self._reached.set((), {})
        if button == "Start" and self._any:
            self._clock.start(now)
            self._timer.reset()
        elif button == "Start":
            self._say("Write a function first, such as 30*sin(90*t).")
        elif button == PAUSE:
            self._clock.pause(now)
        else:
            self._clock.set(0.0, now)
            self._described = -math.inf
            self._move()

    def _tick(self) -> None:
        if self._clock.running:
            self._move()
        else:
            self._timer.cancel()
            self._context.redraw()

    def _move(self) -> None:
        if self._reached.left(self._context.positions()):
            self._end(INTERRUPTED)
            return
        try:
            values = self._functions.at(self._now())
            lengths = self._lengths.at(self._now())
        except InputError as error:
            self._end(f"{error.key}: {error.problem}")
            return
        if lengths and (problem := self._describe(lengths)):
            self._end(problem)
            return
        self._send({n: from_display(self._joints[n], value) for n, value in values.items()})

    def _send(self, joints: Mapping[str, float]) -> None:
        if joints and self._context.move(joints):
            self._end(PAUSED)
        elif joints:
            self._reached.set(joints, self._context.positions())
            self._say(limit_text(self._joints, joints))

    def _describe(self, constants: Mapping[str, float]) -> str:
        """Give constants their values, at most five times a second; return why not, or ""."""
        editing, now = self._editing, time.monotonic()
        if editing is None or now < self._described + SLOW_PERIOD:
            return ""
        self._described = now
        return editing.change(lambda editor: editor.animate(constants))

    def _end(self, problem: str) -> None:
        self._clock.pause(time.monotonic())
        self._say(problem)

    def _command(self, words: Sequence[str]) -> str:
        button = " ".join(words).capitalize()
        if button not in BUTTONS:
            raise InputError(f"give one of {', '.join(BUTTONS).lower()}")
        self._press(button)
        return f"t = {self._now():.2f} s"

    def _now(self) -> float:
        return self._clock.at(time.monotonic())

    def _say(self, text: str) -> None:
        if self._answer.content != (line := answer_line(text)):
            self._answer.content = line


def limit_text(joints: Mapping[str, VisualJoint], wanted: Mapping[str, float]) -> str:
    """Return which joints stay at a limit, as positions [rad or m] beyond it are wanted."""
    beyond = (n for n, q in wanted.items() if not joints[n].lower <= q <= joints[n].upper)
    names = ", ".join(beyond)
    return f"At the limit: {names}." if names else ""


def clock_line(seconds: float) -> str:
    """Return what the clock shows, as HTML."""
    return answer_line(f"t = {seconds:.1f} s", "clock")


ENTRY = PanelEntry(MotionPanel, 3.0, Where.ALONE, tab=RUN)
