# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Keys": lists the page's keys, chooses a joint, and turns it while a key is held.

The page's script (`browser/page.js`) sends a line for each press, and again ten times a second
while a key that turns is held: a page that is closed or loses its connection moves nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from html import escape
from typing import Any

from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.panels.interface import PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.robot import VisualJoint, VisualRobot

CHOOSE_FIRST = "Choose a joint with the keys 1 to 9 first."
HOLD = 0.35  # [s] without a line of the key after which the joint stops; it is sent every 0.1 s
SPEED, SLIDE_SPEED = 0.7, 0.2  # [rad/s] and [sizes of the robot per second]
SPEED_SHARE = 0.5  # of a joint's speed limit


@dataclass(frozen=True)
class TurnRate:
    """How a held key moves a joint."""

    period: float  # the time between two commands [s]
    ahead: float  # how far in front of the measured position each of them leads [s]


BY_PAGE = TurnRate(0.05, 0.05)  # the page moves the joint itself
BY_DRIVER = TurnRate(0.1, 0.3)  # each command comes before the one before has ended
RATES = {Where.ALONE: BY_PAGE, Where.RUNNING: BY_DRIVER}


class KeysPanel:
    """Chooses joints and turns them, where the page moves an arm."""

    title = "Keys"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._rate = rate = RATES.get(context.where)
        self._robot: VisualRobot | None = None
        self._chosen = ""
        self._way, self._until = 0.0, 0.0
        self._turning = False
        self._timer = None if rate is None else context.every(rate.period, self._tick)
        if self._timer is not None:
            self._timer.cancel()

    def build(self, gui: PageGui) -> None:
        """Add the elements that the page's script uses."""
        if self._rate is not None:
            line = gui.text("", "", self.receive, visible=False)
            gui.never_too_late(line, lambda text: str(text).startswith("turn 0"))
            gui.mark(f'<span data-arm="keys" data-element="{element_id(line)}" hidden></span>')
        self._answer = gui.mark(chosen_mark(""))
        self._size: Any = gui.mark()

    def update(self, state: PanelState) -> None:
        """Follow another robot."""
        if state.robot is self._robot or state.robot is None:
            return
        self._robot = state.robot
        size = self._context.view.drawer.size
        self._size.content = f'<span data-arm="robot" data-size="{size:.4g}" hidden></span>'
        if self._rate is not None:
            self._choose(self._chosen)

    def close(self) -> None:
        """Turn no joint any more."""
        self._turning = False
        if self._timer is not None:
            self._timer.cancel()

    def receive(self, line: str) -> None:
        """Take a line of the page's script: ``choose N #COUNT`` or ``turn WAY #COUNT``."""
        command, _, value = line.partition(" #")[0].partition(" ")
        if command == "choose" and value.isdecimal():
            names, number = list(self._joints()), int(value)
            name = names[number - 1] if 0 < number <= len(names) else ""
            self._choose("" if name == self._chosen else name)
        elif command == "turn" and value in ("-1", "0", "1"):
            self._turn(float(value))

    def _joints(self) -> dict[str, VisualJoint]:
        """Return the joints by name, numbered as their sliders are."""
        joints = () if self._robot is None else self._robot.joints
        return {joint.name: joint for joint in joints if joint.mimic is None}

    def _choose(self, name: str) -> None:
        """Let a joint's slider and axis stand out; "" for none."""
        joint = self._joints().get(name)
        self._chosen = "" if joint is None else name
        if joint is None:
            self._way = 0.0
        self._context.view.sidebar.mark(self._chosen)
        self._context.view.drawer.mark_axis(self._robot, self._chosen)
        number = list(self._joints()).index(name) + 1 if joint else 0
        self._say(f"{number}: {name}, J and L turn it" if joint else "")

    def _turn(self, way: float) -> None:
        self._way, self._until = way, time.monotonic() + HOLD
        if way and not self._chosen:
            self._say(CHOOSE_FIRST)
        elif way and not self._turning and self._timer is not None:
            self._turning = True
            self._timer.reset()
            self._tick()

    def _tick(self) -> None:
        joint = self._joints().get(self._chosen)
        position = self._context.positions().get(self._chosen)
        held = self._way and time.monotonic() < self._until
        if not held or joint is None or position is None or self._rate is None:
            self.close()
            return
        target = position + self._way * self._rate.ahead * self._speed(joint)
        if self._context.move({joint.name: min(max(target, joint.lower), joint.upper)}):
            self.close()  # the reason is shown at the top
        self._context.redraw()

    def _speed(self, joint: VisualJoint) -> float:
        """Return the speed of a joint that a key turns [rad/s or m/s]."""
        usual = SLIDE_SPEED * self._context.view.drawer.size if joint.prismatic else SPEED
        return min(usual, SPEED_SHARE * joint.velocity)

    def _say(self, text: str) -> None:
        self._answer.content = chosen_mark(text)


def chosen_mark(text: str) -> str:
    """Return what the page's script shows below the picture's buttons."""
    return f'<span data-arm="chosen" hidden>{escape(text)}</span>'


ENTRY = PanelEntry(KeysPanel, 9.0, Where.EVERYWHERE, tab="")
