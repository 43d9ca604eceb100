# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keys and sentences of the guided calibration."""

from __future__ import annotations

from typing import NamedTuple

HELP = """\
  n b    next servo, servo before
  p      first pulse of this servo, after a question: it turns at once
  . ,    one count longer, shorter        (or right, left)
  > <    ten counts longer, shorter       (or up, down)
  m      measured: type the joint's present position, or i and an inclinometer's readings (g)
  u k    undo the last point; keep the file's points and add to them
  c      change the channel that this servo is plugged into
  [ ]    this pulse is the shortest, the longest it may ever get
  r      release this servo: it goes limp
  g      guide: what this servo moves, and how to measure it
  f      feel: each step pushes for a moment only, to find a stop with little force; f ends it
  + -    one count longer, shorter, of this servo alone, while its partner on the joint holds
  t      turns: the ratio of its gear, from three measured positions
  l      lengths: check those of its linkage, measured with a calliper
  s      stiffness: hang a known weight and type how far it sinks
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; pulses continue, the arm is held (Ctrl-C: at once, nothing is written)
"""


MEASURED_HELP = """\
Guide the arm by hand: servos without torque turn freely, and their counts are measured.
  n b    next servo, servo before; space: its count now
  m      measured: type the joint's present position, or i and an inclinometer's readings (g)
  u k    undo the last point; keep the file's points and add to them
  [ ]    this count is the least, the greatest that it may ever get
  p      hold: this servo gets torque where it is, nothing moves
  . ,    one count more, less             (or right, left)
  > <    ten counts more, less            (or up, down)
  r      release this servo: it goes limp
  c      change the id that this servo has
  g      guide: what this servo moves, and how to measure it
  + -    one count more, less, of this servo alone, while its partner on the joint holds
  t      turns: the ratio of its gear, from three measured positions
  l      lengths: check those of its linkage, measured with a calliper
  s      stiffness: hang a known weight; its servo measures how far it yields
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; servos keep their torque, or have none (Ctrl-C: at once, nothing is written)
"""


class Terms(NamedTuple):
    """What the sentences for servos on a board, and for smart servos, differ in."""

    help: str
    unit: str
    end: str  # what holds a servo
    bounds: tuple[str, str]  # of its pulses
    holds: str
    limp: str
    no_step: str


BOARD_TERMS = Terms(
    HELP,
    "us",
    "pulses",
    ("shorter", "longer"),
    "{name} gets pulses of {setpoint:.0f} us and holds.",
    "no pulses, p: first",
    "{name} gets no pulses yet; p sends the first.",
)
MEASURED_TERMS = Terms(
    MEASURED_HELP,
    "counts",
    "torque",
    ("less", "more"),
    "{name} has torque and holds at {setpoint:.0f} counts; r releases it.",
    "limp",
    "{name} has no torque; p holds it where it is.",
)
