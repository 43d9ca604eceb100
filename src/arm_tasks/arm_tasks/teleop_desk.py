# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The desk of who jogs an arm: keys in, one line out."""

from __future__ import annotations

import time
from typing import Protocol

from arm_description.screen import Screen

from arm_description import RobotModel
from arm_tasks.teleop_jog import PERIOD
from arm_tasks.teleop_wish import JAWS, Keys, Wish, pairs_text

HELP = """\
Hold a key to move; let go and the arm stops.
{pairs}
  m      joints, tool along the base's axes, tool along its own  (now: {mode})
  + -    faster, slower
  space  STOP: latched, nothing moves until z (reset)
  ?      these keys            q  leave (Ctrl-C too)
A joystick on the topic joy moves the tool while its dead man's button is held (LB).
"""


class Jogged(Protocol):
    """What moves."""

    def tick(self, wish: Wish) -> str:
        """Go on for one period; return what is in the way, or ""."""
        ...

    def wish_of_joystick(self, now: float, speed: float) -> Wish | None:
        """Return what a joystick wishes, or None."""
        ...

    def trigger(self, name: str) -> None:
        """Call "stop" or "reset" of the driver."""
        ...

    def grip(self, share: float) -> str:
        """Open the jaws by a share of their way, or close them; return what is in the way."""
        ...

    def rest(self) -> None:
        """Brake if it moves, and begin anew from where it then is."""
        ...

    def shown(self) -> str:
        """Return where the arm is."""
        ...


class Desk:
    """A person's keys, and what is shown to them."""

    def __init__(self, node: Jogged, screen: Screen | None, model: RobotModel) -> None:
        """Serve a node.

        Args:
            node: What moves.
            screen: None without a terminal: joystick only.
            model: The robot.
        """
        self._node = node
        self._screen = screen
        self._names = model.joint_names
        self._has_jaws = model.gripper is not None
        self._problem = ""
        self._keys = Keys()
        self._shown = ""
        self._open = True

    def run(self) -> None:
        """Serve until a key says to leave."""
        self._say(self._help())
        due = time.monotonic()
        while self._open:
            due = max(due + PERIOD, time.monotonic())
            self._read_until(due)
            now = time.monotonic()
            wish = self._keys.wish(now)
            if wish.still:
                wish = self._node.wish_of_joystick(now, wish.speed) or wish
            problem = self._node.tick(wish) or self._problem
            said = f"({problem})  " if problem else ""  # first, for a terminal cuts long lines
            self._show(f"{wish.mode} {wish.speed:g}  {said}{self._node.shown()}")

    def _read_until(self, due: float) -> None:
        while self._open and (left := due - time.monotonic()) > 0.0:
            if self._screen is None:
                time.sleep(left)
            elif key := self._screen.key(left):
                self._take(key)

    def _take(self, key: str) -> None:
        self._problem = ""
        if self._keys.press(key, time.monotonic()):
            if key == "m":
                self._say(self._help())
            return
        if key in JAWS and self._has_jaws:
            speed = self._keys.wish(0.0).speed
            self._problem = self._node.grip(speed if key == JAWS[0] else -speed)
        elif key == " ":
            self._node.trigger("stop")
            self._say("Stop.")
        elif key == "z":
            self._node.trigger("reset")
        elif key == "?":
            self._say(self._help())
        elif key == "q":
            self._open = False

    def _help(self) -> str:
        mode = self._keys.wish(0.0).mode
        pairs = pairs_text(mode, self._names)
        if self._has_jaws:
            pairs = {**pairs, JAWS: "jaws: open, close"}
        rows = "\n".join(f"  {more} {less}    {what}" for (more, less), what in pairs.items())
        return HELP.format(pairs=rows, mode={"joint": "joints"}.get(mode, mode))

    def _say(self, text: str) -> None:
        if self._screen is not None:
            self._screen.say(text)
            self._shown = ""

    def _show(self, text: str) -> None:
        if self._screen is not None and text != self._shown:
            self._screen.show(text)
            self._shown = text
