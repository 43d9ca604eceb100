# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/wizard/test_mechanisms.py
"""The text of a new calibration file, with ideal servos for editing."""

from __future__ import annotations

from arm_common.yaml.editing import flow_word
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.robot_model import RobotModel

from arm_hardware.bus.interface import FEETECH, PCA9685, SerialBus, ServoBoard
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import ServoCalibration
from arm_hardware.calibration.file import TO_SI, Wires, file_unit, wires_of
from arm_hardware.calibration.ideal import ideal_calibration
from arm_hardware.calibration.selection import config_folder, shipped_calibration

PORT = "/dev/ttyACM0"
BOARD_HEAD = """\
# Which servo of this arm is on which channel, and which pulse means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_us: [servo angle, pulse in us].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

board:
  address: 0x40
  frequency_hz: 50
  reference_clock_hz: 25000000

joints:
"""
BUS_HEAD = """\
# Which servo of this arm has which id, and which of its 4096 counts a turn means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_counts: [servo angle, count].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

bus:
  port: {port}
{protocol}
joints:
"""


def template(model: RobotModel, protocol: str = "") -> str:
    """Return a file with ideal servos.

    Args:
        model: The robot. Channels are those of the calibration shipped for it, otherwise 0, 1,
            2, ..., and ids of smart servos 1, 2, 3, ...
        protocol: What the servos are driven by; that of the shipped calibration if it is empty.

    Raises:
        CalibrationError: The board has too few channels, or a sliding joint has no limits.
    """
    shipped = shipped_calibration(model.name, config_folder())
    protocol = protocol or (shipped.board.protocol if shipped else PCA9685)
    on_board = protocol == PCA9685
    board = ServoBoard() if on_board else SerialBus(PORT, protocol=protocol)
    servos = ideal_calibration(model, board, shipped).servos
    text = (BOARD_HEAD if on_board else BUS_HEAD).format(
        robot=flow_word(model.name),
        port=PORT,
        protocol="" if protocol == FEETECH else f"  protocol: {flow_word(protocol)}\n",
    )
    if not Drivetrain.of(model).is_identity:
        text = text.replace("joint angle", "actuator angle")
    for name, servo in servos.items():
        entry = _entry(servo, wires_of(board))
        if name == GRIPPER:
            text += f"\n{GRIPPER}:\n  {entry}\n"
        else:
            text += f"  {flow_word(name)}:\n    {entry}\n"
    return text


def _entry(servo: ServoCalibration, wires: Wires) -> str:
    """Return the keys of a servo as one flow mapping."""
    unit = file_unit(servo)
    rows = ", ".join(
        f"[{position / TO_SI[unit]:.12g}, {setpoint:g}]" for position, setpoint in servo.points
    )
    least, most = servo.setpoint_limits
    return (
        f"{{{wires.channel}: {servo.channel}, points_{unit}_{wires.setpoint}: [{rows}], "
        f"{wires.limits}: [{least:g}, {most:g}]}}"
    )
