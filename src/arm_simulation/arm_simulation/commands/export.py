# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/mjcf/test_robot.py
"""The command that exports a robot file to MJCF.

dh2mjcf nut_arm -o nut_arm.xml
python3 -m mujoco.viewer --mjcf=nut_arm.xml
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from arm_common.errors import number_text
from arm_description.library import load_robot, shipped_robots
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.robot_model import RobotModel
from arm_description.urdf.bodies import bodies_of_model, holding_torques

from arm_common import cli
from arm_simulation.mjcf.robot import robot_mjcf, shafts_of

_SAMPLES = 300  # random postures


def dh2mjcf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    text = "Write the MJCF of an arm from its robot file: bodies, limits, actuators, in SI units."
    parser = argparse.ArgumentParser(prog="dh2mjcf", description=text)
    cli.add_robot(parser, shipped_robots())
    cli.add_output(parser)
    return cli.run(parser, _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    cli.write_text(robot_mjcf(model), arguments.output)
    for sentence in weak_actuators(model):
        cli.print_status(sentence)


def weak_actuators(model: RobotModel) -> list[str]:
    """Return a sentence for each actuator that cannot hold the arm in every posture.

    The postures are those of the file, the middle and random ones inside the limits.
    """
    bodies, drives = bodies_of_model(model), Drivetrain.of(model)
    lower, upper = np.array(model.lower), np.array(model.upper)
    q = np.random.default_rng(0).uniform(lower, upper, (_SAMPLES, model.n))
    named = [[posture[name] for name in model.joint_names] for posture in model.postures.values()]
    q = np.vstack([*named, 0.5 * (lower + upper), q])
    tau = np.array([holding_torques(bodies, row) for row in q.tolist()])
    needed = np.abs((tau[:, None, :] @ np.linalg.pinv(drives.jacobian(q)))[:, 0])
    found = []
    for shaft, torques in zip(shafts_of(model), needed.T, strict=True):
        unit, worst = "N" if shaft.own_slides else "N m", float(torques.max())
        if worst > shaft.effort:
            share = 100.0 * float((torques > shaft.effort).mean())
            found.append(
                f"{shaft.name}: its {number_text(shaft.effort, 3)} {unit} cannot hold the arm in "
                f"{max(share, 1.0):.0f} % of its postures, where it needs up to "
                f"{number_text(worst, 3)} {unit}: it sags or falls (raise limits.effort)"
            )
    return found
