# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/derivation/test_document.py
"""Command that writes the derivation of an arm's kinematics as a page, or as code.

explain puma560 -o puma560.html
explain my_arm.yaml --posture ready -o my_arm.md
explain my_arm.yaml --code c -o my_arm.c
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arm_common.files.saving import check_writable, write_bytes
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_description.library import load_robot, shipped_robots
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.chain_model import one_turn

from arm_common import cli

_OFF_MIDDLE = 0.15  # share of the range by which the example is off the middle
_SECONDS = 15.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return cli.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    if arguments.output:
        check_writable(arguments.output)
    if arguments.code:
        from arm_studio.symbolic.code import kinematics_code

        cli.print_status("Multiplying out ...")
        cli.write_text(kinematics_code(model, arguments.code), arguments.output or "")
        return
    if not arguments.output:
        raise KinematicsError("name the page by -o, such as -o page.html (or .pdf, .md, .tex)")
    _write_page(model, arguments)


def _write_page(model: RobotModel, arguments: argparse.Namespace) -> None:
    from arm_studio.derivation.document import DerivationPage
    from arm_studio.derivation.forward import ForwardDerivation
    from arm_studio.derivation.inverse import write_inverse

    page = DerivationPage(Path(arguments.output))
    chain = Chain.from_model(model)
    q = _posture(model, chain, arguments.posture)
    page.heading(f"The kinematics of {model.name}", 1)
    if model.description:
        page.say(f"{page.literal(model.description)}.")
    ForwardDerivation(
        model, arguments.seconds, lambda what: cli.print_status(f"Writing: {what} ...")
    ).write(page, q)
    cli.print_status("Writing: inverse ...")
    write_inverse(page, model, chain, q)
    for file, content in page.files().items():
        write_bytes(content, file)
        cli.print_status(f"Wrote {file}")


def _posture(model: RobotModel, chain: Chain, name: str) -> Array:
    """Return the posture of the example (n,): a named one, or one off the middle of the ranges."""
    if name:
        if name not in model.postures:
            remedy = did_you_mean(name, model.postures)
            raise KinematicsError(f"{model.name} has no posture '{name}': {remedy}")
        return chain.positions(model.postures[name])
    low, high = one_turn(chain.lower, chain.upper, chain.sliding)
    q = 0.5 * (low + high) + _OFF_MIDDLE * (high - low)
    inside = model.constraint_set.nearest(q, model.lower, model.upper)
    return np.asarray(q if inside is None else inside)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explain",
        description="Derive the kinematics of an arm, as a page to read or as code.",
    )
    cli.add_robot(parser, shipped_robots())
    add = parser.add_argument
    output = (
        "a .html, .pdf, .md or .tex page; with --code a source file (default: standard output)"
    )
    add("-o", "--output", metavar="FILE", help=output)
    example = "posture of the example (default: one off the middle of the ranges)"
    add("--posture", default="", help=example)
    add(
        "--code", choices=("c", "python"), default="", help="write fk and jacobian as code instead"
    )
    add(
        "--seconds",
        type=cli.positive,
        default=_SECONDS,
        help=f"time for each part that may take long (default: {_SECONDS:g})",
    )
    not_on_page = ["--posture", "--seconds"]
    cli.unused(parser, not_on_page, lambda given: given.code, "with --code: it is for the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
