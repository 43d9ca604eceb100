# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/commands/test_servo_limits.py
"""Command that reports the dexterity, the best posture and the workspace of an arm.

dexterity puma560
dexterity my_arm.yaml --posture ready --plot slice.svg
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, pose
from arm_description.library import add_calibration, load_robot
from arm_description.model.units import UNITS, Units
from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity import jobs
from arm_kinematics.dexterity.conditioning import BestPosture, best_posture, condition_at, measures
from arm_kinematics.dexterity.workspace import (
    SliceMap,
    SliceRows,
    Volume,
    bounding_box,
    reachable_volume,
    slice_map,
    slice_rows,
)
from arm_kinematics.errors import KinematicsError

from arm_common import cli
from arm_studio.pictures.figure import add_plot, save_figure

_CELLS = 80  # along the longer side of a slice
_MARGIN = 0.02
_FLAT = 0.5  # of the longest side of the box of reach: across a shorter one, the plane has most
_AXES = "xyz"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return cli.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    chain, units = Chain.from_model(model), model.units
    names, chosen = tuple(model.postures), arguments.posture
    if chosen and chosen not in names:
        remedy = did_you_mean(chosen, names)
        raise KinematicsError(f"{model.name} has no posture '{chosen}': {remedy}")
    best = best_posture(chain)
    for name in [chosen] if chosen else names:
        q = chain.positions(model.postures[name])
        size, _ = measures(chain.jacobian(q))
        condition = f"{condition_at(chain, q, best.length):.4f}{_length_text(best, units)}"
        text = f"{name + ':':<16} manipulability {size:.4g}, condition number {condition}\n"
        cli.write_text(text, "")
    cli.write_text(_best_posture_text(chain, best, units), "")
    cli.print_status("Computing the reachable volume ...")
    cli.write_text(_reach_text(reachable_volume(chain), units), "")
    if not arguments.plot:
        return
    if arguments.workers or arguments.dask:
        with jobs.executor(arguments.workers, arguments.dask) as pool:
            _draw(chain, best, arguments, units, pool)
    else:
        _draw(chain, best, arguments, units)


def _reach_text(reach: Volume, units: Units) -> str:
    """Return the sides of the box, to about a millimetre, and the volume."""
    decimals = UNITS[units.length].decimals - 3
    sides = (
        f"{axis} {units.rounded(low, 'prismatic', decimals)} .. "
        f"{units.fixed(high, 'prismatic', decimals)}"
        for axis, low, high in zip(_AXES, reach.lower, reach.upper, strict=True)
    )
    cube = units.written(1.0, "prismatic") ** 3
    return (
        f"{'reaches:':<16} {', '.join(sides)}\n"
        f"{'volume:':<16} {cube * reach.volume:.4g} {units.length}^3 +- {cube * reach.error:.2g}\n"
    )


def _best_posture_text(chain: Chain, best: BestPosture, units: Units) -> str:
    positions = (
        f"{name} {units.text(value, 'prismatic' if sliding else 'revolute', 5)}"
        for name, value, sliding in zip(chain.joint_names, best.q, chain.sliding, strict=True)
    )
    return (
        f"{'best posture:':<16} {', '.join(positions)}\n"
        f"{'':<16} condition number {best.condition:.4f}{_length_text(best, units)}\n"
    )


def _length_text(best: BestPosture, units: Units) -> str:
    """Return what a condition number belongs to."""
    if not best.length:
        return ", of translation"
    return f", characteristic length {units.text(best.length, 'prismatic', 4)}"


@cache
def _chain(robot: str, calibration: str) -> Chain:
    return Chain.from_model(load_robot(robot, calibration))


def _rows(robot: str, calibration: str, rows: SliceRows) -> Array:
    """Return rows of the map of a robot, by names or paths: a job of another process."""
    return slice_rows(_chain(robot, calibration), rows)


def _for_processes(file: str) -> str:
    """Return a name, or the absolute path of a file."""
    return str(Path(file).absolute()) if Path(file).is_file() else file


def _draw(
    chain: Chain,
    best: BestPosture,
    arguments: argparse.Namespace,
    units: Units,
    pool: Executor | None = None,
) -> None:
    robot, calibration = map(_for_processes, (arguments.robot, arguments.calibration))
    job = partial(_rows, robot, calibration)
    run = partial(jobs.run_jobs, pool, job, what="blocks of rows") if pool else None
    lower, upper = bounding_box(chain)
    margin = _MARGIN * float((upper - lower).max())
    plane = arguments.slice or _plane(upper - lower)
    i, j = (_AXES.index(letter) for letter in plane)
    k = 3 - i - j
    x, y = np.eye(3)[[i, j]]
    T = pose(np.column_stack([x, y, np.cross(x, y)]))
    T[k, 3] = min(max(0.0, lower[k]), upper[k])
    extent = (lower[i] - margin, upper[i] + margin, lower[j] - margin, upper[j] + margin)
    cell = max(extent[1] - extent[0], extent[3] - extent[2]) / arguments.cells
    found = slice_map(chain, T, extent, cell, best.length, run)
    title = f"Reach at {_AXES[k]} = {units.text(T[k, 3], 'prismatic', 3)}"
    draw_slice(found, plane, title, units, Path(arguments.plot))


def _plane(sides: Array) -> str:
    """Return the plane with most of the reach: xz, or that across a side (3,) that is short."""
    shortest = int(np.argmin(sides))
    is_flat = sides[shortest] < _FLAT * sides.max()
    return _AXES.replace(_AXES[shortest], "") if is_flat else "xz"


def draw_slice(found: SliceMap, plane: str, title: str, units: Units, path: Path) -> None:
    """Draw a slice: colour is isotropy, white is out of reach.

    Raises:
        KinematicsError: The file name has no picture format, or the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    left, right, low, high = (units.written(end, "prismatic") for end in found.extent)
    image = axes.imshow(
        found.isotropy,
        origin="lower",
        extent=(left, right, low, high),
        vmin=0.0,
        vmax=1.0,
        cmap="viridis",
    )
    figure.colorbar(image, label="isotropy (1 / condition number)")
    across, along = (f"{axis} [{units.length}]" for axis in plane)
    axes.set(xlabel=across, ylabel=along, title=title)
    save_figure(figure, path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dexterity", description="Report how well an arm moves and what it reaches."
    )
    parser.add_argument("robot", help="a shipped name, or the path of a robot file")
    add_calibration(parser)
    parser.add_argument(
        "--posture", default="", help="posture to report (default: all in the file)"
    )
    planes = "plane of the workspace map (default: that with most of the reach, or xz)"
    parser.add_argument("--slice", choices=("xy", "xz", "yz"), default="", help=planes)
    add_plot(parser)
    cells = f"cells along the longer side of the map (default: {_CELLS})"
    parser.add_argument(
        "--cells", type=cli.whole_number(2), default=_CELLS, metavar="N", help=cells
    )
    jobs.add_executor(parser, default="this one alone")
    of_map = ["--slice", "--cells", "--workers", "--dask"]
    cli.unused(parser, of_map, lambda arguments: not arguments.plot, "without --plot FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
