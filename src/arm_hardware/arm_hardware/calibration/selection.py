# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Finds the calibration of an arm: a file, the shipped one, or ideal servos of a simulated arm."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from arm_common.files.access import share_folders
from arm_description.library import load_robot, shipped_robots
from arm_description.robot_model import RobotModel

from arm_hardware import PARTS
from arm_hardware.bus.interface import SerialBus, ServoBoard
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, axes_of, driven_axes, driven_model
from arm_hardware.calibration.file import load_calibration
from arm_hardware.errors import CalibrationError

TICK = 0.02  # [s] of a driver with the default rate_hz
_LOGGER = logging.getLogger(__name__)


def calibration_path(name: str, robot: str, folder: Path) -> Path:
    """Return the path of a calibration file, or raise CalibrationError.

    ``name`` is a path, the stem of a shipped file in ``folder``, or empty for the file shipped
    for the robot.
    """
    if name and Path(name).is_file():
        return Path(name)
    found = folder / f"{name or f'{robot}_servos'}.yaml"
    if found.is_file():
        return found
    shipped = ", ".join(sorted(p.stem for p in folder.glob("*_servos.yaml"))) or "none"
    what = f"'{name}'" if name else f"for robot '{robot}'"
    raise CalibrationError(f"There is no calibration {what}; give a path, or one of: {shipped}")


def shipped_calibration(robot: str, folder: Path) -> Calibration | None:
    """Return the calibration shipped in a folder for a robot, None if there is none."""
    path = folder / f"{robot}_servos.yaml"
    return load_calibration(path) if path.is_file() else None


def config_folder() -> Path:
    """Return the folder of shipped calibrations, in the source tree or under share/."""
    folders = [share / "config" for share in share_folders("arm_hardware")]
    return next(filter(Path.is_dir, folders), folders[0])


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
    if simulated and not name:
        shipped = shipped_calibration(model.name, folder)
        if shipped is None or not _fits(shipped, model):
            _LOGGER.info("%s has no calibration: its simulated servos are ideal.", model.name)
            ideal: Calibration = PARTS.load("ideal servos")(model, shipped)
            return ideal
    path = calibration_path(name, model.name, folder)
    calibration = load_calibration(path)
    if calibration.robot != model.name:
        raise CalibrationError(
            f"is for robot '{calibration.robot}', not '{model.name}'", file=str(path)
        )
    return _for_tool(calibration, model)


def pulse_calibration(model: RobotModel, name: str) -> tuple[Calibration, ServoBoard]:
    """Return the calibration of a simulated arm, as calibration_for(), and its board.

    Raises:
        CalibrationError: Its servos are not driven by the pulses of a board alone.
    """
    calibration = calibration_for(model, name, config_folder(), simulated=True)
    if not isinstance(calibration.board, ServoBoard):
        raise CalibrationError(
            "contact physics read the pulses of a servo board, and "
            f"{calibration.path.name} has none; use the geometric world"
        )
    return calibration, calibration.board


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


def _fits(calibration: Calibration, model: RobotModel) -> bool:
    """Return whether a calibration has the servos of an arm."""
    return set(_for_tool(calibration, model).servos) == {a.name for a in axes_of(model).actuators}
