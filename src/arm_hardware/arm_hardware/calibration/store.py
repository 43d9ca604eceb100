# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Makes calibration files, and changes them: shows the difference and keeps a backup."""

from __future__ import annotations

import difflib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.errors import InputError
from arm_common.files.saving import save_edit
from arm_common.yaml.editing import flow_word, with_values
from arm_description.model.gripper import Claw
from arm_description.model.transmissions.drivetrain import Drivetrain

from arm_description import RobotModel, load_robot, shipped_robots
from arm_hardware.calibration.axes import GRIPPER, Axis
from arm_hardware.calibration.calibration import (
    Calibration,
    SerialBus,
    ServoBoard,
    ServoCalibration,
    calibration_path,
    config_folder,
    own_calibration,
)
from arm_hardware.calibration.coupling import axes_of, driven_axes, driven_model
from arm_hardware.calibration.file import (
    BOARD_WIRES,
    BUS_WIRES,
    CHANNELS,
    STIFFNESS,
    STIFFNESS_SI,
    TO_SI,
    Wires,
    load_calibration,
    parse_calibration,
    wires_of,
)
from arm_hardware.calibration.servo_map import COUNTS
from arm_hardware.errors import CalibrationError

TICK = 0.02  # [s] of a driver with the default rate_hz
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class CalibrationChange:
    """A proposed change to a calibration file."""

    path: Path
    old: bytes | None  # the text that was read; None if it did not exist yet
    new: bytes
    calibration: Calibration  # parsed from the new text

    def diff(self) -> str:
        """Return the change as a unified diff, empty if there is none."""
        old, new = (
            data.decode("utf-8-sig").splitlines(True) for data in (self.old or b"", self.new)
        )
        name = str(self.path)
        return "".join(difflib.unified_diff(old, new, name, f"{name} (new)", n=1))

    def write(self) -> Path | None:
        """Save the file; return the path of the former one, None if the file is new."""
        try:
            return save_edit(self.new, self.path, self.old, numbered=True)
        except InputError as error:
            raise CalibrationError(error.problem, error.file, remedy=error.remedy) from None


def change(
    path: Path, text: bytes, values: Mapping[str, Mapping[str, str]], read: bytes | None
) -> CalibrationChange:
    """Return a file with keys of its servos set, or raise CalibrationError if it is invalid.

    ``values`` holds YAML text by servo name and key; ``text`` is that of the file or of a new one;
    ``read`` is what the file contained when it was read, None without a file.
    Once every servo has its day of calibration, the file is no longer an example.
    """
    new = text
    for name, keys in values.items():
        section = (GRIPPER,) if name == GRIPPER else ("joints", name)
        new = with_values(new, section, keys)
    calibration = parse_calibration(new, path)
    if calibration.example and calibration.oldest is not None:
        new = with_values(new, (), {"example": "false"})
        calibration = parse_calibration(new, path)
    return CalibrationChange(path, read, new, calibration)


def read_bytes(path: Path) -> bytes:
    """Return the text of a calibration file, or raise CalibrationError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CalibrationError(f"cannot be read ({error.strerror})", str(path)) from None


DECIMALS = 3  # of deg, mm and us: finer than any board or measuring tool


def file_unit(servo: ServoCalibration) -> str:
    """Return the unit of a servo's positions in its file: "deg" or "mm"."""
    return "deg" if servo.unit == "rad" else "mm"


def within_reach(servo: ServoCalibration) -> ServoCalibration:
    """Return the servo with limits reduced to what its points and pulse limits reach."""
    if math.isinf(servo.limits[0]):
        return servo
    reach = servo.map(1.0)
    limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
    return replace(servo, limits=limits)


def changed_keys(old: ServoCalibration, new: ServoCalibration, wires: Wires) -> dict[str, str]:
    """Return the YAML text of each key whose value differs between two servos."""
    unit = file_unit(old)
    si = TO_SI[unit]
    values: dict[str, str] = {}
    if new.channel != old.channel:
        values[wires.channel] = str(new.channel)
    if new.zero != old.zero:
        values[f"zero_{unit}"] = _number(new.zero / si)
    if new.points != old.points:
        pairs = ", ".join(_pair(place / si, us) for place, us in new.points)
        values[f"points_{unit}_{wires.pulse}"] = f"[{pairs}]"
    if new.pulse_limits != old.pulse_limits:
        values[wires.limits] = _pair(*new.pulse_limits)
    if new.limits != old.limits:
        lower, upper = (value / si * 10**DECIMALS for value in new.limits)
        inside = math.ceil(lower - 1e-6), math.floor(upper + 1e-6)
        values[f"limits_{unit}"] = _pair(*(value / 10**DECIMALS for value in inside))
    if new.stiffness != old.stiffness:
        values[STIFFNESS[unit]] = f"{new.stiffness / STIFFNESS_SI[unit]:.4g}"
    if new.calibrated and new.calibrated != old.calibrated:
        values["calibrated"] = new.calibrated.isoformat()
    return values


def _number(value: float) -> str:
    return f"{round(value, DECIMALS) + 0.0:.12g}"


def _pair(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"


_TURNS = 2.0 * math.pi  # of an ideal servo of a joint without limits [rad]
# [1/s]; the board divides each period into 4096 counts: with the 50 of analogue servos, the tip
# of a long arm whose joints turn by more than a servo can would move in steps of a centimetre
_WHOLE_RANGE_FREQUENCY = 300
HEAD = """\
# Which servo of this arm is on which channel, and which pulse means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_us: [servo angle, pulse in us].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

board:
  address: 0x40
  frequency_hz: {frequency}
  reference_clock_hz: 25000000

joints:
"""
MEASURED_HEAD = """\
# Which servo of this arm has which id, and which of its 4096 counts a turn means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_counts: [servo angle, count].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

bus:
  port: /dev/ttyACM0

joints:
"""
TURN = "points_deg_us: [[{lower}, 500], [{upper}, 2500]], pulse_limits_us: [500, 2500]"
JAW = "points_deg_us: [[{lower}, 1000], [{upper}, 2000]], pulse_limits_us: [1000, 2000]"
SLIDE = "points_mm_us: [[{lower}, 1000], [{upper}, 2000]], pulse_limits_us: [1000, 2000]"


def calibration_for(model: RobotModel, name: str, folder: Path, simulated: bool) -> Calibration:
    """Return the calibration of an arm.

    Args:
        model: The robot.
        name: A path, the stem of a file in the folder, or empty for the robot's own.
        folder: Where calibrations are shipped.
        simulated: Whether ideal servos, which reach all limits, replace a missing one, or one
            that is shipped for another arm of the same name.

    Raises:
        CalibrationError: There is none, it is invalid, or it belongs to another robot.
    """
    if simulated and not name and not _is_shipped_for(model, folder):
        _LOGGER.info("%s has no calibration: its simulated servos are ideal.", model.name)
        text = template(model, whole_range=True)
        return parse_calibration(text.encode(), Path("ideal servos"))
    path = calibration_path(name, model.name, folder)
    calibration = load_calibration(path)
    if calibration.robot != model.name:
        raise CalibrationError(
            f"is for robot '{calibration.robot}', not '{model.name}'", str(path)
        )
    return _for_tool(calibration, model)


def pulse_calibration(model: RobotModel, name: str) -> tuple[Calibration, ServoBoard]:
    """Return the calibration of a simulated arm, as calibration_for(), and its board.

    Raises:
        CalibrationError: Its servos are not driven by the pulses of a board alone.
    """
    found = calibration_for(model, name, config_folder(), simulated=True)
    if not isinstance(found.board, ServoBoard):
        raise CalibrationError(
            f"contact physics read the pulses of a servo board, and {found.path.name} has none; "
            "use the geometric world"
        )
    return found, found.board


def _for_tool(calibration: Calibration, model: RobotModel) -> Calibration:
    """Return a calibration without the servo of a gripper that another tool has replaced."""
    if model.gripper is not None or GRIPPER not in calibration.servos:
        return calibration
    servos, board = dict(calibration.servos), calibration.board
    unused = servos.pop(GRIPPER).channel
    if isinstance(board, SerialBus):
        kept = {number: servo for number, servo in board.servos.items() if number != unused}
        board = replace(board, servos=kept)
    return replace(calibration, servos=servos, board=board)


def robot_with_servos(
    model: RobotModel, calibration: str = "", simulated: bool = True, dt: float = TICK
) -> RobotModel:
    """Return an arm with the limits that a driver with ticks of dt [s] keeps.

    The calibration is chosen, and the errors are those, as in calibration_for().
    """
    chosen = calibration_for(model, calibration, config_folder(), simulated)
    return driven_model(model, driven_axes(model, chosen, dt)[0])


def robot_of(calibration: Calibration, chosen: str = "") -> RobotModel:
    """Return the robot that a person has chosen, otherwise that of a calibration.

    If none of its name is shipped, its file is expected beside the calibration's.

    Raises:
        DescriptionError: There is no such robot, or its file is invalid.
    """
    name = chosen or calibration.robot
    beside = calibration.path.parent / f"{name}.yaml"
    is_beside = not chosen and name not in shipped_robots() and beside.is_file()
    return load_robot(beside if is_beside else name)


def _is_shipped_for(model: RobotModel, folder: Path) -> bool:
    """Return whether a calibration of an arm's name is shipped, with the servos of this arm."""
    path = own_calibration(model.name, folder)
    names = {axis.name for axis in axes_of(model).actuators}
    return path.is_file() and set(_for_tool(load_calibration(path), model).servos) == names


def template(model: RobotModel, measured: bool = False, whole_range: bool = False) -> str:
    """Return a file with ideal servos, for editing; ``measured`` if they answer.

    They turn by 180 degrees, or with ``whole_range`` by the range of their joint, and are then
    digital ones, whose pulses come more often and in finer counts.

    Their channels are those of the calibration shipped for the robot, otherwise 0, 1, 2, ..., and
    of servos that answer 1, 2, 3, ...; if the shipped one is for such servos, so is the file.
    """
    axes = axes_of(model)
    servos = [_bounded(axis, model) for axis in axes.actuators]
    path = own_calibration(model.name, config_folder())
    shipped = load_calibration(path) if path.is_file() else None
    if shipped is not None and isinstance(shipped.board, SerialBus):
        measured = True
    wires = BUS_WIRES if measured else BOARD_WIRES
    if len(servos) > len(wires.channels):
        raise CalibrationError(f"{model.name} has {len(servos)} servos, a board has {CHANNELS}")
    frequency = _WHOLE_RANGE_FREQUENCY if whole_range else 50
    head = MEASURED_HEAD if measured else HEAD
    text = head.format(robot=flow_word(model.name), frequency=frequency)
    if not Drivetrain.of(model).is_identity:
        text = text.replace("joint angle", "actuator angle")
    same = shipped is not None and wires_of(shipped.board) is wires
    known = shipped.servos if shipped is not None and same else {}
    channels = _channels([axis.name for axis in servos], known, wires.channels[int(measured) :])
    for axis in servos:
        claw = axes.claw(axis)
        points = _counts(axis, claw) if measured else _points(axis, claw, whole_range)
        entry = f"{{{wires.channel}: {channels[axis.name]}, {points}}}"
        if axis.name == GRIPPER:
            text += f"\n{GRIPPER}:\n  {entry}\n"
        else:
            text += f"  {flow_word(axis.name)}:\n    {entry}\n"
    return text


def _bounded(axis: Axis, model: RobotModel) -> Axis:
    """Return an actuator with limits, by default those where its joints are at theirs."""
    drivetrain = Drivetrain.of(model)
    if axis.name not in drivetrain.actuators or math.isfinite(axis.lower):
        return axis
    k = drivetrain.actuators.index(axis.name)
    ends = (float(drivetrain.to_actuators(q)[k]) for q in (model.lower, model.upper))
    lower, upper = sorted(ends)
    return replace(axis, lower=lower, upper=upper)


def _channels(
    names: Sequence[str], known: Mapping[str, ServoCalibration], allowed: range
) -> dict[str, int]:
    channels = {name: known[name].channel for name in names if name in known}
    free = (channel for channel in allowed if channel not in channels.values())
    return channels | dict(zip((n for n in names if n not in known), free, strict=False))


def _counts(axis: Axis, claw: Claw | None) -> str:
    """Return points of a servo that answers, at 0 in the middle of a turn."""
    unit, (lower, upper) = "deg", (-170.0, 170.0)
    half = 170.0 * COUNTS / 360.0
    if claw:
        lower, upper = math.degrees(claw.closed), math.degrees(claw.open)
        half = 0.5 * (upper - lower) * COUNTS / 360.0
    elif axis.unit == "m":
        unit, half = "mm", 0.25 * COUNTS
        lower, upper = axis.lower * 1e3, axis.upper * 1e3
    ends = round(0.5 * COUNTS - half), round(0.5 * COUNTS + half)
    points = f"[[{lower:.6g}, {ends[0]}], [{upper:.6g}, {ends[1]}]]"
    return f"points_{unit}_counts: {points}, count_limits: [{ends[0]}, {ends[1]}]"


def _points(axis: Axis, claw: Claw | None, whole_range: bool) -> str:
    if claw:
        closed, opened = math.degrees(claw.closed), math.degrees(claw.open)
        return JAW.format(lower=f"{closed:.6g}", upper=f"{opened:.6g}")
    if axis.unit == "rad":
        limits = (axis.lower, axis.upper) if whole_range else (-math.pi / 2.0, math.pi / 2.0)
        lower, upper = (math.degrees(max(min(x, _TURNS), -_TURNS)) for x in limits)
        return TURN.format(lower=f"{lower:.12g}", upper=f"{upper:.12g}")
    lower, upper = axis.lower * 1e3, axis.upper * 1e3
    if math.isinf(lower) or math.isinf(upper):
        raise CalibrationError(f"{axis.name} slides and has no limits in the robot description")
    return SLIDE.format(lower=f"{lower:.6g}", upper=f"{upper:.6g}")
