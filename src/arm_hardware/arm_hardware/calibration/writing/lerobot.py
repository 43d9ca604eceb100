# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's calibration files, as calibrations of Feetech's smart servos, and back.

LeRobot stores for each motor its id, drive_mode (1 turns the sign of percentages; of degrees, it
does not), homing_offset (written to the servo), range_min and range_max [counts]; an angle is 0 in
the middle of the range, and 4095 counts are 360 degrees (lerobot/motors/motors_bus.py). The
gripper is 0 to 100 % of its range. Here a turn has 4096 counts: LeRobot's angles differ by
0.024 %. A jaw that turns is closed at 0 % and turns with its servo.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from arm_common.errors import joined
from arm_common.suggestions import did_you_mean, program
from arm_description.model.gripper import Claw
from arm_description.robot_model import RobotModel

from arm_hardware.bus.interface import COUNTS, FEETECH, PCA9685
from arm_hardware.calibration.axes import GRIPPER, Axes, Axis
from arm_hardware.calibration.calibration import Calibration, ServoCalibration, axes_of
from arm_hardware.errors import CalibrationError

KEYS = ("id", "drive_mode", "homing_offset", "range_min", "range_max")
OLD_KEYS = ("homing_offset", "calib_mode")  # lists, of the format of before May 2025
MOST = {"id": 253, "drive_mode": 1, "range_min": COUNTS - 1, "range_max": COUNTS - 1}
OFFSET = 2047  # the greatest homing_offset
DEGREES = 360.0 / COUNTS  # of a count


def read_lerobot(text: str, file: str) -> dict[str, dict[str, int]]:
    """Return the motors of a LeRobot calibration by name, or raise CalibrationError."""
    try:
        data = json.loads(text)
        joined(json.dumps(data, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise CalibrationError(f"is not JSON ({error})", file=file) from None
    if isinstance(data, dict) and any(isinstance(data.get(key), list) for key in OLD_KEYS):
        raise CalibrationError(
            "is in LeRobot's format of before May 2025 (lists of homing_offset, calib_mode), "
            "which does not have the ranges of the joints",
            file=file,
            remedy="calibrate with a newer LeRobot (lerobot-calibrate) and import that file",
        )
    if not isinstance(data, dict) or not data:
        raise CalibrationError("has no motors", file=file, remedy="give a calibration of LeRobot")
    return {str(name): _motor(str(name), motor, file) for name, motor in data.items()}


def _motor(name: str, motor: Any, file: str) -> dict[str, int]:
    if not isinstance(motor, dict) or not set(KEYS) <= motor.keys():
        raise CalibrationError(f"needs {', '.join(KEYS)}", file=file, key=name)
    for key in KEYS:
        value = motor[key]
        least, most = (-OFFSET, OFFSET) if key not in MOST else (0, MOST[key])
        if type(value) is not int or not least <= value <= most:
            problem = f"must be a whole number from {least} to {most}"
            raise CalibrationError(problem, file=file, key=f"{name}.{key}")
    if not motor["range_min"] < motor["range_max"]:
        raise CalibrationError("range_min must be below range_max", file=file, key=name)
    return {key: motor[key] for key in KEYS}


def selected(
    motors: Mapping[str, dict[str, int]],
    only: Collection[str],
    without: Collection[str],
    file: str,
) -> dict[str, dict[str, int]]:
    """Return the motors that are named, or all if none is, without those that are left out.

    Raises:
        CalibrationError: A name is not that of a motor.
    """
    for name in (*only, *without):
        if name not in motors:
            raise CalibrationError(
                f"has no motor {name} to select", file=file, remedy=did_you_mean(name, motors)
            )
    return {
        name: motor
        for name, motor in motors.items()
        if (not only or name in only) and name not in without
    }


def calibration_text(
    motors: Mapping[str, Mapping[str, int]],
    model: RobotModel,
    port: str,
    names: Mapping[str, str],
    file: str,
) -> str:
    """Return the text of a calibration file.

    Args:
        motors: From read_lerobot().
        model: The robot.
        port: The serial port.
        names: The motor of an actuator (the joint, unless the robot has transmissions) or of
            "gripper", if its name differs.
        file: The LeRobot calibration, for errors.

    Raises:
        CalibrationError: An actuator has no motor, or a motor no actuator.
    """
    axes = axes_of(model)
    motor_of = _motor_names(axes, motors, names, model.name, file)
    lines = [
        "example: false",
        f"robot: {model.name}",
        "",
        "bus:",
        f"  port: {port}",
        "",
        "joints:",
    ]
    for axis in axes.actuators[: len(motor_of) - (axes.gripper is not None)]:
        motor = motors[motor_of[axis.name]]
        half = 0.5 * _span(motor)
        lines.append(f"  {axis.name}: {_servo(motor, 'deg', -half, half)}")
    if axes.gripper is not None:
        text = _gripper(motors[motor_of[GRIPPER]], axes.gripper, axes.claw(axes.gripper))
        lines += ["", f"{GRIPPER}: {text}"]
    return "\n".join(lines) + "\n"


def _motor_names(
    axes: Axes,
    motors: Mapping[str, Mapping[str, int]],
    names: Mapping[str, str],
    robot: str,
    file: str,
) -> dict[str, str]:
    """Return the motor of each actuator, or raise CalibrationError; see calibration_text()."""
    motor_of = {axis.name: names.get(axis.name, axis.name) for axis in axes.actuators}
    what = "joint" if axes.coupling is None else "actuator"
    for joint in names:
        if joint not in motor_of:
            raise CalibrationError(
                f"has no use for --motor {joint}={names[joint]}, as {robot} has no {what} {joint}",
                file=file,
                remedy=did_you_mean(joint, motor_of),
            )
    missing = [joint for joint, motor in motor_of.items() if motor not in motors]
    if missing:
        without = "; for an arm without jaws, give a robot file without a gripper"
        raise CalibrationError(
            f"has no motor {motor_of[missing[0]]} for the {what} {missing[0]}",
            file=file,
            remedy=f"name it: --motor {missing[0]}=NAME, of {', '.join(motors)}"
            + (without if missing == [GRIPPER] else ""),
        )
    unused = [motor for motor in motors if motor not in motor_of.values()]
    if unused:
        raise CalibrationError(
            f"has the motor {unused[0]}, which no {what} of {robot} uses",
            file=file,
            remedy=f"leave out what is no part of the arm: --without {' '.join(unused)}",
        )
    _check_ids(motors, file)
    return motor_of


def _check_ids(motors: Mapping[str, Mapping[str, int]], file: str) -> None:
    """Raise CalibrationError if two motors have the same id."""
    names: dict[int, str] = {}
    for name, motor in motors.items():
        if (first := names.setdefault(motor["id"], name)) != name:
            raise CalibrationError(
                f"has the id {motor['id']} of {first}",
                file=file,
                key=name,
                remedy="give each servo its own id (lerobot-setup-motors) and calibrate again",
            )


def _span(motor: Mapping[str, int]) -> float:
    """Return the range of a motor [deg]."""
    return DEGREES * (motor["range_max"] - motor["range_min"])


def _gripper(motor: Mapping[str, int], width: Axis, claw: Claw | None) -> str:
    if claw is None:
        return _servo(motor, "mm", width.lower * 1e3, width.upper * 1e3)
    closed = math.degrees(claw.closed)
    return _servo(motor, "deg", closed, closed + _span(motor))


def _servo(motor: Mapping[str, int], unit: str, lower: float, upper: float) -> str:
    """Return the keys of a servo at positions in a unit at the ends of its motor's range."""
    least, most = motor["range_min"], motor["range_max"]
    counts = (most, least) if motor["drive_mode"] else (least, most)
    points = f"points_{unit}_counts: [[{lower:.9g}, {counts[0]}], [{upper:.9g}, {counts[1]}]]"
    limits = f"count_limits: [{least}, {most}]"
    offset = f"homing_offset: {motor['homing_offset']}"
    return f"{{id: {motor['id']}, {points}, {limits}, {offset}}}"


def lerobot_text(calibration: Calibration, names: Mapping[str, str]) -> str:
    """Return a calibration as LeRobot's JSON; names as in calibration_text().

    Raises:
        CalibrationError: It is for other servos than Feetech's, a homing offset is unknown, or a
            joint is not at 0 in the middle of its range, as LeRobot requires.
    """
    if calibration.board.protocol != FEETECH:
        protocol = calibration.board.protocol
        kind = "a PCA9685" if protocol == PCA9685 else f"servos of the protocol {protocol}"
        raise CalibrationError(
            f"is for {kind}, not for Feetech's smart servos", file=str(calibration.path)
        )
    motors = {
        names.get(joint, joint): _lerobot_motor(joint, servo, str(calibration.path))
        for joint, servo in calibration.servos.items()
    }
    return json.dumps(motors, indent=4) + "\n"


def _lerobot_motor(joint: str, servo: ServoCalibration, file: str) -> dict[str, int]:
    servo_map = servo.map(1.0)
    least, most = servo_map.counts
    middle = servo_map.setpoint_of(0.0)
    if joint != GRIPPER and abs(middle - 0.5 * (least + most)) > 1.0:
        raise CalibrationError(
            f"is at 0 at count {middle:.0f}, but LeRobot's angles are 0 in the middle of the "
            f"range, at {0.5 * (least + most):.0f}",
            file=file,
            key=joint,
            remedy="change count_limits or points",
        )
    if servo.homing_offset is None:
        raise CalibrationError(
            "needs homing_offset, which LeRobot writes to the servo",
            file=file,
            key=joint,
            remedy=f"add it: {program('arm_hardware', 'servos')} lists that of each servo",
        )
    rising = servo_map.setpoints[0] < servo_map.setpoints[-1]
    values = (servo.channel, int(not rising), servo.homing_offset, least, most)
    return dict(zip(KEYS, values, strict=True))


def load_lerobot(path: Path) -> dict[str, dict[str, int]]:
    """Return the motors of a LeRobot file, or raise CalibrationError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationError(f"cannot be read ({error})", file=str(path)) from None
    return read_lerobot(text, str(path))
