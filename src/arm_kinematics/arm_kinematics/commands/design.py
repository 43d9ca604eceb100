# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that designs an isotropic arm and writes it as a robot file.

design --joints 6 -o my_arm.yaml --plot my_arm.svg
design --from puma560 --length 0.2 -o better.yaml
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_description.robot_file.writer import robot_yaml

from arm_common import cli
from arm_description import DescriptionError, load_robot
from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity.design import (
    condition,
    designed_robot,
    optimise,
    random_start,
    start_from,
)
from arm_kinematics.dexterity.optimal_posture import best_posture
from arm_kinematics.errors import KinematicsError

_LENGTH = 0.2
_REPORT_EVERY = 10  # steps


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return cli.run(_parser(), _design, argv, (DescriptionError, KinematicsError))


def _design(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    start, length = _start(arguments)
    design = optimise(start, _report)
    length = arguments.length or length
    model = designed_robot(design, length, arguments.name)
    cli.print_status(
        f"Done in {len(design.history)} steps: condition number {design.condition:.6f} "
        f"(1 is isotropic); {condition(model, length):.5f} after rounding to 0.1 mm and 0.01 deg, "
        f"with the characteristic length {1e3 * length:.4g} mm."
    )
    if arguments.plot:
        from arm_kinematics.dexterity.pictures import draw_design

        draw_design(design, Path(arguments.plot))
    cli.write_text(robot_yaml(model, Units("mm", "deg")), arguments.output)


def _start(arguments: argparse.Namespace) -> tuple[Array, float]:
    """Return the start variables and the default characteristic length [m]."""
    if not arguments.robot:
        return random_start(arguments.joints, arguments.seed), _LENGTH
    chain = Chain.from_model(load_robot(arguments.robot))
    best = best_posture(chain)
    if best.length is None:
        raise KinematicsError(
            f"{arguments.robot} has {chain.n} joints; a design needs six or more"
        )
    cli.print_status(
        f"{arguments.robot}: condition number {best.condition:.4f} at best, characteristic "
        f"length {best.length:.4g} m"
    )
    return start_from(chain.jacobian(best.q), best.length), best.length


def _report(step: int, condition: float) -> None:
    if step == 1 or step % _REPORT_EVERY == 0:
        cli.print_status(f"step {step:3d}  condition number {condition:.6f}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="design",
        description="Design an arm of revolute joints that moves equally well in all directions "
        "at one posture, by minimising the condition number of its homogeneous Jacobian.",
    )
    length = f"characteristic length in m, scales the arm (default: {_LENGTH} or the robot's)"
    start = "robot to start from: a shipped name or a path"
    parser.add_argument(
        "--joints", type=int, default=6, help="number of joints, 6 to 12 (default: 6)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the random start (default: 0)"
    )
    parser.add_argument("--from", dest="robot", default="", help=start)
    parser.add_argument("--length", type=float, default=0.0, help=length)
    parser.add_argument("--name", default="designed_arm", help="name of the robot")
    parser.add_argument(
        "--plot",
        default="",
        metavar="FILE",
        help="picture to write: .svg, .pdf, .png, .eps or .ps",
    )
    cli.add_output(parser)
    cli.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
