# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_verify.py
"""Move a calibrated arm slowly to reference postures and print where its tip should be.

It drives the servos directly, so end the driver first. Measure the tip at each posture; an error
that is the same everywhere is that of a servo's zero, which calibrate_kinematics can fit.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from arm_common.cli import confirm, number, run, unused
from arm_common.errors import InputError
from arm_common.signals import interrupt_on_signals
from arm_common.suggestions import did_you_mean
from arm_description.errors import DescriptionError
from arm_description.model.transmissions.transmission import (
    Drivetrain,
    SeveralActuatorsTransmission,
)
from arm_description.model.units import SHOWN
from arm_description.robot_model import RobotModel

from arm_hardware.backends import AUTO, backend_for
from arm_hardware.bus.interface import ConfigurableBus, SerialBus
from arm_hardware.calibration.axes import check_position, rest_positions
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import robot_of
from arm_hardware.calibration.servo_map import ServoMap
from arm_hardware.calibration.wizard.mechanisms import link_readings
from arm_hardware.calibration.wizard.setpoints import HELD, HELD_MEASURED
from arm_hardware.commands.calibrate import add_board
from arm_hardware.driver import Driver
from arm_hardware.errors import BusError, CommandError, HardwareError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import measured_tolerances, single_point_goal
from arm_hardware.motion.options import DriverOptions

SHORTEST_MOTION = 0.5  # [s] of any motion
PATIENCE = 5.0  # [s] of wall time beyond the planned duration of a motion
# Simulated seconds per wall second; less with smart servos, which take their time to answer.
SIMULATED_SPEED = {False: 10.0, True: 2.0}


def posture(driver: Driver, model: RobotModel, name: str) -> list[float]:
    """Return the positions of a posture [rad or m] for all axes of a driver.

    ``name`` is the name of a posture, or joint values in deg or mm like ``waist=30,elbow=-10``.
    Omitted axes are as in the posture rest.

    Raises:
        CommandError: There is no such posture or joint, or a position is outside its limits.
    """
    if "=" in name:
        values: Mapping[str, float] = dict(_value(driver, part) for part in name.split(","))
    elif name in model.postures:
        values = model.postures[name]
    else:
        known = did_you_mean(name, model.postures)
        raise CommandError(f"{model.name} has no posture {name!r}; {known}; or joint=value,...")
    rest = rest_positions(model, driver.axes)
    goal = [values.get(a.name, r) for a, r in zip(driver.axes, rest, strict=True)]
    for axis, position in zip(driver.axes, goal, strict=True):
        check_position(axis, position, f" of posture {name}", SHOWN)
    return goal


def drive(driver: Driver, to: Sequence[float], share: float) -> None:
    """Move an armed arm to positions at a share of its speed limits, and wait for it.

    Raises:
        HardwareError: The motion failed or did not end.
    """
    ways = zip(driver.axes, driver.controller.command()[0], to, strict=True)
    seconds = max(
        [SHORTEST_MOTION, *(abs(b - a) / (share * axis.velocity) for axis, a, b in ways)]
    )
    n = len(driver.axes.arm)
    tolerances = measured_tolerances(driver.axes) if driver.bus.measures else None
    arm_goal = single_point_goal(driver.axes, seconds, to[:n])
    goals = [driver.controller.follow(arm_goal, tolerances)]
    if driver.axes.gripper is not None:
        goals.append(driver.controller.grip(to[-1]))
    for goal in goals:
        if not goal.wait(seconds / driver.options.speed + PATIENCE):
            raise HardwareError("The motion did not end in time; is the computer overloaded?")
        if goal.outcome is not GoalOutcome.SUCCEEDED:
            raise HardwareError(goal.message)
    _wait_for_rest(driver)


def _wait_for_rest(driver: Driver) -> None:
    """Wait until smart servos rest, which follow their commands with a lag."""
    deadline = time.monotonic() + PATIENCE
    while (now := driver.controller.snapshot().measured) is not None and now.moving:
        if time.monotonic() > deadline:
            raise HardwareError("The servos do not come to rest; do their loads swing?")
        time.sleep(driver.period / driver.options.speed)


def report(driver: Driver, model: RobotModel, name: str) -> str:
    """Return text about a posture: joints, expected tip and the tip's resolution.

    Joints are measured, with servos that report no position commanded.
    """
    snapshot = driver.controller.snapshot()
    commanded = [math.nan if p is None else p for p in snapshot.positions]
    positions = snapshot.measured.positions if snapshot.measured else commanded
    q = list(positions[: model.n])
    joints = ", ".join(
        f"{axis.name} {axis.text(value, SHOWN)}"
        for axis, value in zip(driver.axes, positions, strict=True)
    )
    x, y, z = model.fk(q)[:3, 3] * 1e3
    links = link_readings(model, np.array(q)).items()
    angles = ", ".join(f"{name} {math.degrees(angle):.1f}" for name, angle in links)
    upwards = f"\n  an inclinometer on the links shows: {angles} deg upwards" if angles else ""
    maps = driver.output.maps[: len(Drivetrain.of(model).actuators)]
    tick = tip_resolution(model, q, maps) * 1e3
    return (
        f"{name}: {joints}\n"
        f"  expect the tip (tool0) at {x:.1f} {y:.1f} {z:.1f} mm in base_link; "
        f"one count of a servo moves it by up to {tick:.1f} mm{upwards}"
    )


def tip_resolution(model: RobotModel, q: Sequence[float], maps: Sequence[ServoMap]) -> float:
    """Return the largest motion of the tip [m] by one count of one servo, the attainable accuracy.

    Joint positions q are (n,) [rad or m]; maps are those of the actuators of the joints.
    """
    drivetrain = Drivetrain.of(model)
    actuators = drivetrain.to_actuators(np.array(q, dtype=float))
    counts = [servo.count_of(position) for servo, position in zip(maps, actuators, strict=True)]
    near = [[m.position_of(c + k) for k in (-1, 0, 1)] for m, c in zip(maps, counts, strict=True)]
    steps = np.diag(np.abs(np.diff(near)).max(axis=1))
    postures = drivetrain.to_joints(actuators + np.vstack([np.zeros_like(actuators), steps]))
    here, *there = (model.fk(joints)[:3, 3] for joints in postures)
    return max(float(np.linalg.norm(tip - here)) for tip in there)


def advice(model: RobotModel) -> str:
    """Return a line for each joint that several servos hold."""
    several = [t for t in model.transmissions if isinstance(t, SeveralActuatorsTransmission)]
    return "".join(
        f"{' and '.join(t.actuators)} hold {t.joints[0]} together: if one hums or gets warm at "
        "rest, align them with the keys + and - of calibrate.\n"
        for t in several
    )


def _value(driver: Driver, part: str) -> tuple[str, float]:
    name, _, text = (piece.strip() for piece in part.partition("="))
    units = {axis.name: axis.unit for axis in driver.axes}
    if name not in units:
        raise CommandError(f"There is no joint {name!r}; {did_you_mean(name, units)}.")
    try:
        return name, SHOWN.read(text, "revolute" if units[name] == "rad" else "prismatic")
    except InputError as error:
        raise CommandError(f"{part!r}: {error}.") from None


def mend(chosen: argparse.Namespace) -> None:
    """Correct what is set wrong in the memory of the calibration's servos, after asking."""
    calibration = load_calibration(chosen.file)
    board = calibration.board
    if not isinstance(board, SerialBus):
        raise HardwareError("--mend is for smart servos; this calibration has a board.")
    backend = backend_for(AUTO, board, calibration.path)
    # Without servos, as those to be mended would be refused.
    bus = backend.bus(replace(board, servos={}))
    if not isinstance(bus, ConfigurableBus):
        raise HardwareError(
            f"--mend knows nothing of the memory of servos of the protocol {board.protocol}; "
            "change it by their maker's program."
        )
    needed = backend.with_needs(calibration, board, robot_of(calibration, chosen.robot))
    assert isinstance(needed, SerialBus)
    bus.open()
    try:
        mend_servos(bus, needed)
    except OSError as error:
        raise BusError(f"{needed.port}: {error.strerror or error}; check its plugs.") from error
    finally:
        bus.close()


def mend_servos(bus: ConfigurableBus, needed: SerialBus) -> None:
    """Correct the memory of servos as they need it; raise HardwareError unless the user agrees."""
    problems = [
        (servo_id, problem)
        for servo_id, problems in bus.setting_problems(needed.servos).items()
        for problem in problems
    ]
    for servo_id, problem in problems:
        name = needed.servos[servo_id].name
        sys.stdout.write(f"servo {servo_id} ({name}) {problem.sentence}; {problem.change}\n")
    if not problems:
        sys.stdout.write("The servos are set as the calibration needs them.\n")
        return
    if not sys.stdin.isatty():
        raise HardwareError("Writing to the servos must be confirmed at a terminal.")
    if not confirm("These servos lose their torque: hold the arm. Write to them?"):
        raise HardwareError("Nothing was written.")
    for servo_id, problem in problems:
        bus.mend(servo_id, problem)
    sys.stdout.write("Written; switch the servos' supply off and on, then configure again.\n")


def verify(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    if chosen.mend:
        if chosen.postures:
            raise HardwareError("--mend moves to no posture; give the calibration file alone.")
        mend(chosen)
        return
    if not 0.0 < chosen.speed <= 1.0:
        raise HardwareError(f"--speed {chosen.speed:g} is not above 0 and at most 1.")
    calibration = load_calibration(chosen.file)
    model = robot_of(calibration, chosen.robot)
    real = chosen.hardware == "real"
    options = DriverOptions(
        hardware=chosen.hardware,
        backend=chosen.backend,
        calibration=str(chosen.file),
        speed=1.0 if real else SIMULATED_SPEED[isinstance(calibration.board, SerialBus)],
        exit_action="hold",
    )
    driver = Driver(model, options)
    names = chosen.postures or model.postures
    postures = [(name, posture(driver, model, name)) for name in names]
    if not postures:
        raise HardwareError(f"{model.name} has no postures; give some, as joint=value,...")
    driver.open()
    try:
        if real:
            _confirm(driver)
        driver.arm()
        sys.stdout.write(advice(model))
        for name, positions in postures:
            drive(driver, positions, chosen.speed)
            sys.stdout.write(report(driver, model, name) + "\n")
            if sys.stdin.isatty():
                input("  Measure, then press Enter (Ctrl-C: stop here). ")
    finally:
        driver.close()
        sys.stdout.write(f"{HELD_MEASURED if driver.bus.measures else HELD}\n")


def _confirm(driver: Driver) -> None:
    """Ask the user before real servos are armed; raise HardwareError unless they agree."""
    if not sys.stdin.isatty():
        raise HardwareError("Arming real servos must be confirmed at a terminal.")
    what = (
        "The servos hold the arm where it is, then move it slowly from posture to posture"
        if driver.bus.measures
        else "Servos without pulses are brought to the posture rest one after another, in short "
        "bursts;\nsome jump there AT ONCE"
    )
    if not confirm(f"{what}. Keep clear, be ready to cut their power. Arm them?"):
        raise HardwareError("Not armed: nothing was sent.")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__)
    parser.add_argument("file", type=Path, help="calibration file of this arm")
    parser.add_argument(
        "postures",
        nargs="*",
        help="names, or joint=value,... in deg or mm (default: all of the robot)",
    )
    parser.add_argument("--robot", default="", help="shipped name or path (default: the file's)")
    parser.add_argument(
        "--speed", type=number, default=0.2, help="share of the highest speeds (default 0.2)"
    )
    parser.add_argument(
        "--mend",
        action="store_true",
        help="move nothing: correct what is set wrong in the memory of smart servos, after asking",
    )
    add_board(parser)
    of_motion = ["--speed", "--hardware", "--backend"]
    unused(parser, of_motion, lambda chosen: chosen.mend, "with --mend, which moves nothing")
    interrupt_on_signals()
    return run(parser, verify, args, (HardwareError, DescriptionError, EOFError))


if __name__ == "__main__":
    sys.exit(main())
