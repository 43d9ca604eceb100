# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that answer forward and inverse kinematics in the terminal, without nodes.

fk nut_arm 0 -20 20 0
fk nut_arm ready
ik puma560 0.4 0.2 0.3 180 0 0
fk puma560 $(ik puma560 0.4 0.2 0.3 180 0 0 --plain | head -1)

All numbers are in the units of the robot file, or expressions such as 90/4.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TypeAlias

from arm_common.errors import aligned
from arm_common.transforms import matrix_rpy, rpy_matrix
from arm_description.errors import DescriptionError
from arm_description.library import add_calibration, load_robot
from arm_description.robot_model import RobotModel

from arm_common import cli
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError

MAX_SOLUTIONS = 16
_PLAIN_DECIMALS = 9  # in the units of the file
_Numbers: TypeAlias = Sequence[tuple[float, str]]  # positions [rad or m] and types of joints
_ERRORS = (DescriptionError, KinematicsError)


def fk(argv: Sequence[str] | None = None) -> int:
    """Print the pose of the tool at joint positions; return the exit code."""
    parser = _parser("fk", "Print the pose of the tool at joint positions.")
    positions = "position of each joint, in the file's units; or the name of a posture"
    parser.add_argument("positions", nargs="+", type=cli.expression, metavar="Q", help=positions)
    return cli.run(parser, _fk, argv, _ERRORS)


def ik(argv: Sequence[str] | None = None) -> int:
    """Print the joint positions that reach a pose; return the exit code."""
    parser = _parser("ik", "Print all joint positions that bring the tool to a pose.")
    pose = "x y z, and roll pitch yaw about fixed axes unless only the position counts"
    parser.add_argument("pose", nargs="+", type=cli.expression, metavar="NUMBER", help=pose)
    return cli.run(parser, _ik, argv, _ERRORS)


def _parser(name: str, text: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=text)
    parser.add_argument("robot", help="a shipped name, or the path of a robot file")
    plain = (
        "numbers alone, with nine decimals, as the arguments of " + {"fk": "ik", "ik": "fk"}[name]
    )
    parser.add_argument("--plain", action="store_true", help=plain)
    add_calibration(parser)
    return parser


def _fk(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    q = _positions(model, arguments.positions)
    xyz, rpy = matrix_rpy(model.fk(q))
    outside = [
        f"{joint.name} is outside its limits ({model.units.text(joint.lower, joint.type)} to "
        f"{model.units.text(joint.upper, joint.type)})"
        for joint, value in zip(model.joints, q, strict=True)
        if not joint.lower - 1e-9 <= value <= joint.upper + 1e-9
    ]
    numbers = [*zip(xyz, ["prismatic"] * 3, strict=True), *zip(rpy, ["revolute"] * 3, strict=True)]
    if arguments.plain:
        cli.write_text(_plain(model, numbers), "")
    else:
        cli.write_text(f"tool0 in base_link: {_pose_text(model, numbers)}\n", "")
    for sentence in outside:
        cli.print_status(f"Note: {sentence}.")


def _pose_text(model: RobotModel, numbers: _Numbers) -> str:
    """Return xyz [m], and rpy [rad] if it is there, in the file's units and with them."""
    texts = [model.units.number(value, kind) for value, kind in numbers]
    xyz = f"xyz {' '.join(texts[:3])} {model.units.length}"
    return f"{xyz}, rpy {' '.join(texts[3:])} {model.units.angle}" if texts[3:] else xyz


def _ik(arguments: argparse.Namespace) -> int:
    model = load_robot(arguments.robot, arguments.calibration)
    count = len(arguments.pose)
    if count not in (3, 6):
        raise KinematicsError(f"give x y z, or x y z roll pitch yaw, not {count} numbers")
    kinds = ["prismatic"] * 3 + ["revolute"] * 3
    values = [
        model.units.read(text, kind) for text, kind in zip(arguments.pose, kinds, strict=False)
    ]
    T = rpy_matrix(values[:3], (*values[3:], 0.0, 0.0, 0.0)[:3])
    mode = "pose" if count == 6 else "position"
    found = Chain.from_model(model).ik(T, mode=mode, max_solutions=MAX_SOLUTIONS)
    if not found.ok:
        target = _pose_text(model, [*zip(values, kinds, strict=False)])
        raise KinematicsError(f"{found.message} It was read in the file's units: {target}")
    types = [joint.type for joint in model.joints]
    rows = [list(zip(solution.q, types, strict=True)) for solution in found.solutions]
    if arguments.plain:
        cli.write_text("".join(_plain(model, row) for row in rows), "")
    else:
        cli.write_text(_table(model, rows), "")
    return 0


def _table(model: RobotModel, rows: Sequence[_Numbers]) -> str:
    """Return solutions in columns, with names and units of the joints as heading."""
    cells = [("", *model.joint_names), ("", *(model.units.unit(j.type) for j in model.joints))]
    for number, row in enumerate(rows, 1):
        cells.append((str(number), *(model.units.number(value, kind) for value, kind in row)))
    return "".join(f"{line}\n" for line in aligned(cells))


def _plain(model: RobotModel, numbers: _Numbers) -> str:
    """Return numbers as a line that the other command takes."""
    texts = (model.units.number(value, kind, 15, _PLAIN_DECIMALS) for value, kind in numbers)
    return f"{' '.join(texts)}\n"


def _positions(model: RobotModel, words: Sequence[str]) -> list[float]:
    """Return joint positions [rad or m] from numbers, or from the name of a posture."""
    if len(words) == 1 and words[0] in model.postures:
        return [model.postures[words[0]][name] for name in model.joint_names]
    if len(words) != model.n:
        postures = f", or one of {', '.join(model.postures)}" if model.postures else ""
        raise KinematicsError(
            f"{model.name} has {model.n} joints, not {len(words)}: give "
            f"{' '.join(model.joint_names)}{postures}"
        )
    return [
        model.units.read(text, joint.type) for text, joint in zip(words, model.joints, strict=True)
    ]
