# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Commands": a line that is typed, its possible ends, and its answer.

Every complete line is also an entry of viser's command palette.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

from arm_common.errors import InputError
from arm_common.transforms import matrix_rpy, rpy_matrix
from arm_description.model.units import Units
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.sidebar import SWITCHES
from arm_viewer.browser.tabs import RUN
from arm_viewer.browser.texts import BREAKS, status_line, value_text
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PageCommand, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.robot import VisualJoint

SLACK = 1e-6  # beyond a limit [rad or m], for numbers that were rounded
MAX_OFFERED = 8  # ends of a line


class CommandsPanel:
    """Runs lines of the command table; adds go, posture, fk, ik and trace."""

    title = "Commands"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._palette: dict[str, Any] = {}  # line -> viser's command
        on_off = ("on", "off")
        add = context.commands.add
        add(
            PageCommand(
                "go", "JOINT=VALUE ...", "move joints [file's units]", self._go, self._joints
            )
        )
        add(
            PageCommand(
                "posture", "NAME", "move to a posture", self._posture, self._postures, listed=True
            )
        )
        add(PageCommand("fk", "", "where the tool is, in the file's units", self._fk))
        add(
            PageCommand(
                "ik", "X Y Z [ROLL PITCH YAW]", "bring the tool there [file's units]", self._ik
            )
        )
        add(
            PageCommand(
                "trace", "on|off", "draw the tool's path", self._trace, lambda: on_off, listed=True
            )
        )

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        self._gui = gui
        hint = "Enter runs it; for example: go waist=20"
        self._line = gui.line("Command", self._run, hint, self._context.commands.only_pauses)
        gui.on_change(self._line, self._offer)
        self._answer = gui.elements.add_html("")
        gui.mark('<span data-arm="commands" hidden></span>')

    def update(self, state: PanelState) -> None:
        """Keep the entries of the palette equal to the complete lines."""
        if not self._palette:
            self._offer("")  # all panels have added their commands now
        lines = self._context.commands.lines()
        for line in self._palette.keys() - lines.keys():
            self._palette.pop(line).remove()
        for line in sorted(lines.keys() - self._palette.keys()):
            command = self._gui.elements.add_command(line, description=lines[line])
            self._gui.on_user(command.on_trigger, partial(self._choose, line))
            if self._context.commands.only_pauses(line):
                self._gui.never_too_late(command)
            self._palette[line] = command

    def close(self) -> None:
        """Remove the entries of the palette."""
        for command in self._palette.values():
            command.remove()

    def _offer(self, start: str) -> None:
        """Show how a line can go on."""
        table = self._context.commands
        offered = table.complete(start)
        usage = {f"{c.name} ": f"{c.name} {c.usage}: {c.text}" for c in table.commands}
        shown = [usage.get(line, line.strip()) for line in offered[:MAX_OFFERED]]
        more = [f"… {len(offered) - MAX_OFFERED} more"] if len(offered) > MAX_OFFERED else []
        rows = "".join(f"<div>{escape(line)}</div>" for line in (*shown, *more))
        style = f"padding:.1em .8em;font-size:.75em;opacity:.75;{BREAKS}"
        self._answer.content = f'<div data-arm="ends" style="{style}">{rows}</div>'

    def _choose(self, line: str) -> None:
        """Run a line of the palette; its answer is at the top, as the folder may be folded."""
        self._context.report(f"{line}: {self._answer_to(line)}")

    def _run(self, line: str) -> None:
        self._answer.content = status_line("answer", line, self._answer_to(line))

    def _answer_to(self, line: str) -> str:
        try:
            answer = self._context.commands.run(line) or "Done."
        except InputError as error:
            return str(error)
        self._line.value = ""
        return answer

    def _arm(self) -> tuple[VisualJoint, ...]:
        robot = self._context.view.store.robot
        return () if robot is None else tuple(j for j in robot.joints if j.mimic is None)

    def _joints(self) -> tuple[str, ...]:
        return tuple(f"{joint.name}=" for joint in self._arm())

    def _postures(self) -> tuple[str, ...]:
        return tuple(self._context.postures())

    def _go(self, words: Sequence[str]) -> str:
        joints, targets = {joint.name: joint for joint in self._arm()}, {}
        units = self._context.units
        for word in words:
            name, _, text = word.partition("=")
            if name not in joints or not text:
                known = ", ".join(joints) or "none"
                raise ViewerError(f"go: {word!r} is no JOINT=VALUE; joints are {known}")
            targets[name] = _within(joints[name], text, units)
        if not targets:
            raise ViewerError("go: give joints and values, such as: go waist=20")
        if problem := self._context.move(targets):
            raise ViewerError(problem)
        return ", ".join(f"{n} {value_text(joints[n], q)}" for n, q in targets.items())

    def _posture(self, words: Sequence[str]) -> str:
        name, postures = " ".join(words), self._context.postures()
        if name not in postures:
            known = ", ".join(postures) or "none"
            raise ViewerError(f"there is no posture {name!r}: known are {known}")
        if problem := self._context.move(postures[name]):
            raise ViewerError(problem)
        return name

    def _fk(self, words: Sequence[str]) -> str:
        robot, tip = self._context.view.store.robot, self._context.tool_frame
        pose = None if robot is None else robot.pose_of(tip, self._context.positions())
        if pose is None:
            raise ViewerError(f"the pose of {tip} is unknown")
        xyz, rpy = matrix_rpy(pose)
        units = self._context.units
        place = " ".join(units.number(x, "prismatic") for x in xyz)
        turn = " ".join(units.number(a, "revolute") for a in rpy)
        return f"{tip}: {place} {units.length}, {turn} {units.angle}"

    def _ik(self, words: Sequence[str]) -> str:
        units = self._context.units
        kinds = ("prismatic",) * 3 + ("revolute",) * 3
        values = [units.read(word, kind) for word, kind in zip(words, kinds, strict=False)]
        robot, tip = self._context.view.store.robot, self._context.tool_frame
        present = None if robot is None else robot.pose_of(tip, self._context.positions())
        if len(words) not in (3, 6) or present is None:
            raise ViewerError(
                f"ik: give x y z [{units.length}], or also roll pitch yaw [{units.angle}]"
            )
        target = present.copy() if len(words) == 3 else rpy_matrix(values[:3], values[3:])
        target[:3, 3] = values[:3]
        self._context.move_tool(target)
        return "The tool follows if it can; else the message at the top says why not."

    def _trace(self, words: Sequence[str]) -> str:
        if list(words) not in (["on"], ["off"]):
            raise ViewerError("trace: say on or off")
        self._context.view.drawer.switch("trace", words[0] == "on")
        return f"{SWITCHES['trace']} {words[0]}"


def _within(joint: VisualJoint, text: str, units: Units) -> float:
    """Return a written position [rad or m]; raise ViewerError if it is beyond the limits."""
    kind = "prismatic" if joint.prismatic else "revolute"
    position = units.read(text, kind)
    if not joint.lower - SLACK <= position <= joint.upper + SLACK:
        low, high = (units.number(end, kind) for end in (joint.lower, joint.upper))
        raise ViewerError(f"go: {joint.name} moves from {low} to {high} {units.unit(kind)}")
    return position


ENTRY = PanelEntry(CommandsPanel, 9.0, Where.MOVING, tab=RUN)
