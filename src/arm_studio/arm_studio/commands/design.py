# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/test_design.py
"""Command that designs an isotropic arm and writes it as a robot file.

design --joints 6 -o my_arm.yaml --plot my_arm.svg
design --joints 7 --starts 100 -o compact.yaml
design --from puma560 --length 0.2 -o better.yaml
design --seed 2 -o my_arm.yaml --view
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from arm_common.files.access import installed_share
from arm_common.network import LAST_PORT
from arm_common.signals import die_with_parent
from arm_common.transforms import Array
from arm_description.errors import DescriptionError
from arm_description.library import load_robot
from arm_description.model.units import Units
from arm_description.robot_file.writer import robot_yaml
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity import jobs
from arm_kinematics.dexterity.conditioning import best_posture
from arm_kinematics.errors import KinematicsError

from arm_common import cli
from arm_studio.design import (
    Design,
    condition,
    designed_robot,
    most_compact,
    optimise,
    random_start,
    start_from,
    try_start,
)
from arm_studio.pictures.figure import add_plot, save_figure

_LENGTH = 0.2
_REPORT_EVERY = 10  # steps
_AXIS = 0.35  # half the length at which an axis is drawn, in characteristic lengths
_STEP_TIME = 0.8  # [s] for which the view shows a step; it looks for a changed file every 0.3 s


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return cli.run(_parser(), _design, argv)


def _design(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    if arguments.view and (not arguments.output or arguments.starts > 1):
        raise KinematicsError("--view shows the steps of one design: give -o FILE, no --starts")
    length, steps = arguments.length, list[Design]()

    def on_step(design: Design) -> None:
        _report(design)
        steps.append(design)

    if arguments.starts > 1:
        design, length = _search(arguments), length or _LENGTH
    else:
        start, default = _start(arguments)
        design, length = optimise(start, on_step), length or default
    model = designed_robot(design, length, arguments.name)
    cli.print_status(
        f"Done in {len(design.history)} steps: condition number {design.condition:.6f} "
        f"(1 is isotropic); {condition(model, length):.5f} after rounding to 0.1 mm and 0.01 deg, "
        f"with the characteristic length {1e3 * length:.4g} mm."
    )
    if arguments.plot:
        draw_design(design, Path(arguments.plot))
    if arguments.view:
        _show([*_drawable(steps, length, arguments.name), model], arguments)
    cli.write_text(_text(model), arguments.output)
    if arguments.view:
        cli.print_status(f"The last step is in {arguments.output}.")


def draw_design(design: Design, path: Path) -> None:
    """Draw the condition number over the steps, and the axes at the design posture.

    Raises:
        KinematicsError: The file name has no picture format, or the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    steps = figure.add_subplot(1, 2, 1)
    steps.semilogy(range(1, len(design.history) + 1), design.history, color="#1e88e5")
    steps.axhline(1.0, color="#90a4ae", linewidth=0.8)
    steps.set(xlabel="step", ylabel="condition number", title="Convergence")
    space = figure.add_subplot(1, 2, 2, projection="3d")
    points = design.r[0] - design.r
    links = np.vstack([points, design.r[0]])
    space.plot(*links.T, color="#607d8b", linewidth=2.0)
    for number, (point, axis) in enumerate(zip(points, design.e, strict=True), 1):
        space.plot(*np.column_stack([point - _AXIS * axis, point + _AXIS * axis]), color="#f4511e")
        space.text(*(point + _AXIS * axis), str(number))
    space.scatter(*design.r[0], color="#43a047", label="tool point")
    space.set(title=f"Axes at condition {design.condition:.4f} (lengths in L)", aspect="equal")
    space.legend()
    save_figure(figure, path)


def _text(model: RobotModel) -> str:
    return robot_yaml(model, Units("mm", "deg"))


def _drawable(designs: Sequence[Design], length: float, name: str) -> list[RobotModel]:
    """Return the robots of designs, without those that have no DH table."""
    models = []
    for design in designs:
        with suppress(DescriptionError):
            models.append(designed_robot(design, length, name))
    return models


def _show(models: Sequence[RobotModel], arguments: argparse.Namespace) -> None:
    """Show robots one after the other in the browser view, until it is closed."""
    try:
        program = installed_share("arm_tasks").parents[1] / "lib" / "arm_tasks" / "view"
    except LookupError:
        raise KinematicsError("--view needs the package arm_tasks, which has the view") from None
    output, port = arguments.output, arguments.viewer_port
    cli.write_text(_text(models[0]), output)
    view = subprocess.Popen(
        [sys.executable, program, output, *(["--viewer-port", str(port)] if port else [])],
        stdin=subprocess.DEVNULL,
        preexec_fn=partial(die_with_parent, signal.SIGTERM),
    )
    try:
        if sys.stdin.isatty():
            cli.print_status("Open the page, then press Enter: it shows each step.")
            input()
        for model in models:
            cli.write_text(_text(model), output)
            with suppress(subprocess.TimeoutExpired):
                view.wait(_STEP_TIME)
                return  # it is closed
        cli.print_status("That was the last step. Ctrl-C closes the view.")
        view.wait()
    except KeyboardInterrupt:
        return
    finally:
        view.terminate()
        view.wait()


def _search(arguments: argparse.Namespace) -> Design:
    """Return the best design of several random starts, which are tried by all processes."""
    if arguments.robot:
        raise KinematicsError("--starts is for random starts; leave out --from")
    seeds = range(arguments.seed, arguments.seed + arguments.starts)
    starts = [random_start(arguments.joints, seed) for seed in seeds]
    with jobs.executor(arguments.workers, arguments.dask) as pool:
        tried = jobs.run_jobs(pool, try_start, starts, "designs")
    found = {seed: design for seed, design in zip(seeds, tried, strict=True) if design}
    best = most_compact(list(found.values()))
    seed = next(seed for seed, design in found.items() if design is best)
    cli.print_status(
        f"Seed {seed} is the best of {len(seeds)}: of those nearest to isotropic, the one with "
        f"the shortest links, {best.size:.2f} characteristic lengths."
    )
    return best


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


def _report(design: Design) -> None:
    step = len(design.history)
    if step == 1 or step % _REPORT_EVERY == 0:
        cli.print_status(f"step {step:3d}  condition number {design.history[-1]:.6f}")


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
    starts = (
        "random starts, with this seed and the next ones; the best design is kept (default: 1)"
    )
    parser.add_argument("--starts", type=cli.whole_number(1), default=1, metavar="N", help=starts)
    jobs.add_executor(parser)
    parser.add_argument("--from", dest="robot", default="", help=start)
    parser.add_argument("--length", type=cli.positive, default=0.0, help=length)
    search, random = ["--workers", "--dask"], ["--joints", "--seed"]
    cli.unused(
        parser, search, lambda arguments: arguments.starts < 2, "without --starts 2 or more"
    )
    cli.unused(
        parser, random, lambda arguments: arguments.robot, "with --from, which is the start"
    )
    parser.add_argument("--name", default="designed_arm", help="name of the robot")
    add_plot(parser)
    view = "show each step in the browser, as a view of the output file does"
    parser.add_argument("--view", action="store_true", help=view)
    port = "first TCP port to try for the view (default: the view's own)"
    parser.add_argument(
        "--viewer-port", type=cli.whole_number(1, LAST_PORT), metavar="N", help=port
    )
    cli.unused(parser, ["--viewer-port"], lambda arguments: not arguments.view, "without --view")
    cli.add_output(parser)
    cli.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
