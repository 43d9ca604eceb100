# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reading a calibration file: strict, since a wrong pulse burns a servo."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from arm_description.yaml_fields import Field
from arm_description.yaml_source import read_yaml

from arm_hardware.axes import GRIPPER
from arm_hardware.calibration import Board, Calibration, Servo
from arm_hardware.errors import CalibrationError
from arm_hardware.servo_map import COUNTS, prescale_of

CHANNELS = 16
PULSES_US = (100.0, 4000.0)  # no hobby servo lies outside
KEYS = ("example", "robot", "board", "joints", "gripper")
BOARD_KEYS = ("address", "frequency_hz", "reference_clock_hz")
TO_SI = {"points_deg_us": math.pi / 180.0, "points_mm_us": 1e-3}


def load_calibration(path: Path) -> Calibration:
    """Read and check a calibration file.

    Raises:
        CalibrationError: What is wrong, where, and what would be right.
    """
    top = read_yaml(path, CalibrationError).mapping(KEYS, ("robot", "board", "joints"))
    fields = top["joints"].mapping()
    if GRIPPER in top:
        fields[GRIPPER] = top[GRIPPER]
    servos = {name: _servo(field) for name, field in fields.items()}
    _check_channels(servos, fields)
    example = top["example"].value if "example" in top else False
    if not isinstance(example, bool):
        raise top["example"].error("must be true or false")
    board = _board(top["board"])
    _check_pulses(servos, fields, board)
    return Calibration(path, example, top["robot"].text(), board, servos)


def _board(field: Field) -> Board:
    given = field.mapping(BOARD_KEYS)
    address = given["address"].value if "address" in given else 0x40
    if type(address) is not int or not 0x08 <= address <= 0x77:
        raise given["address"].error("must be a 7-bit address from 0x08 to 0x77")
    frequency = _within(given.get("frequency_hz"), 50.0, 24.0, 400.0)
    clock = _within(given.get("reference_clock_hz"), 25e6, 1e6, 50e6)
    if not 3 <= prescale_of(frequency, clock) <= 255:
        at = given.get("frequency_hz", field)
        raise at.error("frequency_hz cannot be made from this reference clock")
    return Board(address, frequency, clock)


def _servo(field: Field) -> Servo:
    given = field.mapping(("channel", "pulse_limits_us", *TO_SI), ("channel", "pulse_limits_us"))
    channel = given["channel"].value
    if type(channel) is not int or not 0 <= channel < CHANNELS:
        raise given["channel"].error("must be a whole number from 0 to 15")
    kinds = [kind for kind in TO_SI if kind in given]
    if len(kinds) != 1:
        raise field.error("needs either points_deg_us or points_mm_us")
    rows = [_pair(row) for row in given[kinds[0]].items()]
    _check_points(rows, given[kinds[0]])
    limits = _pair(given["pulse_limits_us"])
    pulses = [pulse for _, pulse in rows]
    least, most = max(limits[0], min(pulses)), min(limits[1], max(pulses))
    if not PULSES_US[0] <= limits[0] < limits[1] <= PULSES_US[1] or least >= most:
        raise given["pulse_limits_us"].error(
            "must rise, lie within 100 to 4000 and overlap the points' pulses"
        )
    points = tuple((value * TO_SI[kinds[0]], pulse) for value, pulse in rows)
    return Servo(channel, "rad" if kinds[0] == "points_deg_us" else "m", points, limits)


def _check_points(rows: Sequence[tuple[float, float]], field: Field) -> None:
    if len(rows) < 2:
        raise field.error("needs two points or more")
    if any(b[0] <= a[0] for a, b in itertools.pairwise(rows)):
        raise field.error("angles or widths must rise from point to point")
    steps = [b[1] - a[1] for a, b in itertools.pairwise(rows)]
    if not (all(s > 0 for s in steps) or all(s < 0 for s in steps)):
        raise field.error("pulses must rise throughout or fall throughout")
    if any(not PULSES_US[0] <= pulse <= PULSES_US[1] for _, pulse in rows):
        raise field.error("pulses must lie within 100 to 4000 us")


def _check_channels(servos: Mapping[str, Servo], fields: Mapping[str, Field]) -> None:
    seen: dict[int, str] = {}
    for name, servo in servos.items():
        if servo.channel in seen:
            other = seen[servo.channel]
            raise fields[name].error(f"has channel {servo.channel}, which {other} has already")
        seen[servo.channel] = name


def _check_pulses(servos: Mapping[str, Servo], fields: Mapping[str, Field], board: Board) -> None:
    period_us = board.count_us * (COUNTS - 1)
    for name, servo in servos.items():
        if servo.pulse_limits_us[1] >= period_us:
            raise fields[name].error(f"allows pulses longer than the period of {period_us:.0f} us")


def _pair(field: Field) -> tuple[float, float]:
    if not isinstance(field.value, list) or len(field.value) != 2:
        raise field.error("must be a pair of numbers")
    first, second = field.value
    return first.number(), second.number()


def _within(field: Field | None, default: float, least: float, most: float) -> float:
    if field is None:
        return default
    if not least <= field.number() <= most:
        raise field.error(f"must be from {least:g} to {most:g}")
    return field.number()
