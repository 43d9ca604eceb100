# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import signal
from pathlib import Path

import numpy as np
import pytest
from arm_kinematics.dexterity.conditioning import frobenius_condition, homogeneous_jacobian
from arm_studio.commands import design as design_command
from arm_studio.commands import dexterity as dexterity_command
from arm_studio.design import (
    Design,
    columns,
    condition,
    constraint_derivative,
    constraints,
    cost,
    designed_robot,
    most_compact,
    optimise,
    pack,
    random_start,
    start_from,
    try_start,
    unpack,
)
from arm_testing.programs.processes import end, start_python
from scipy.optimize import approx_fprime

from arm_description import load_robot
from arm_kinematics import Chain, KinematicsError


@pytest.mark.parametrize("n", [6, 7, 9])
def test_random_start_meets_the_2n_minus_1_constraints(n):
    x = random_start(n, 5)
    assert len(x) == 6 * n - 3 and len(constraints(x)) == 2 * n - 1
    assert constraints(x) == pytest.approx(0.0, abs=1e-12)


def test_gradients_are_exact():
    x = random_start(7, 3) + 0.05  # off the constraints, where their derivatives matter too
    assert cost(x)[1] == pytest.approx(
        approx_fprime(x, lambda x: cost(x)[0], 1e-7), rel=1e-4, abs=1e-5
    )
    by_differences = approx_fprime(x, constraints, 1e-7)
    assert constraint_derivative(x) == pytest.approx(by_differences, abs=1e-5)


@pytest.mark.parametrize(("n", "seed"), [(6, 0), (6, 4), (7, 1), (8, 2)])
def test_optimised_designs_are_isotropic(n, seed):
    steps: list[Design] = []
    found = optimise(random_start(n, seed), steps.append)
    assert found.condition == pytest.approx(1.0, abs=1e-6)
    assert [step.history[-1] for step in steps] == list(found.history)
    for step in steps:
        assert constraints(pack(step.e, step.r)) == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(found.e, axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (found.e * found.r).sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    again = optimise(random_start(n, seed))
    assert (again.e == found.e).all() and (again.r == found.r).all()


def test_start_from_a_robot_keeps_its_condition_number():
    chain = Chain.from_model(load_robot("puma560"))
    J = chain.jacobian(np.array([0.3, 1.1, -2.5, 0.4, -1.2, 0.9]))
    x = start_from(J, 0.3)
    assert frobenius_condition(columns(*unpack(x))) == pytest.approx(
        frobenius_condition(homogeneous_jacobian(J, 0.3)), rel=1e-9
    )
    assert constraints(x) == pytest.approx(0.0, abs=1e-12)


def test_designed_robot_has_the_jacobian_of_the_design():
    found = optimise(random_start(6, 2))
    model = designed_robot(found, 0.25)
    chain = Chain.from_model(model)
    H = homogeneous_jacobian(chain.jacobian(np.zeros(6)), 0.25)
    assert pytest.approx(columns(found.e, found.r), abs=2e-3) == H  # rounded to 0.1 mm, 0.01 deg
    assert frobenius_condition(H) < 1.0001
    assert min(pose[2, 3] for pose in chain.link_poses(np.zeros(6)).values()) >= -1e-9


def test_search_keeps_the_most_compact_of_the_isotropic_designs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """As each start alone, whichever process tries it."""
    robot = tmp_path / "compact.yaml"
    assert design_command.main(["--starts", "3", "--workers", "1", "-o", str(robot)]) == 0
    alone = [try_start(random_start(6, seed)) for seed in range(3)]
    isotropic = [design for design in alone if design and design.condition < 1.0001]
    best = min(isotropic, key=lambda design: design.size)
    seed = next(i for i, design in enumerate(alone) if design is best)
    assert f"Seed {seed} is the best of 3" in capsys.readouterr().err
    rows = load_robot(str(robot)).joints
    expected = designed_robot(best, 0.2).joints
    assert [j.row.a for j in rows] == pytest.approx([j.row.a for j in expected], abs=1e-9)
    assert try_start(np.zeros(33)) is None
    with pytest.raises(KinematicsError, match="another seed"):
        most_compact([])


def test_impossible_designs_are_rejected():
    with pytest.raises(KinematicsError, match="6 to 12"):
        random_start(5, 0)
    with pytest.raises(KinematicsError, match="revolute"):
        start_from(np.vstack([np.ones((3, 6)), np.zeros((3, 6))]), 1.0)
    with pytest.raises(KinematicsError, match="positive number of metres"):
        designed_robot(optimise(random_start(6, 2)), -1.0)


def test_design_writes_robot_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    robot, picture = tmp_path / "my.yaml", tmp_path / "my.svg"
    arguments = ["--joints", "7", "--name", "seven", "-o", str(robot), "--plot", str(picture)]
    assert design_command.main(arguments) == 0
    assert "condition number 1.0000" in capsys.readouterr().err
    assert load_robot(robot).n == 7 and load_robot(robot).name == "seven"
    assert "<svg" in picture.read_text()
    before = robot.read_bytes()
    assert design_command.main(arguments) == 1
    assert "already exists" in capsys.readouterr().err and robot.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--joints", "3"], "6 to 12"),
        (["--from", "nut_arm"], "six or more"),
        (["--from", "puma560", "--starts", "2"], "leave out --from"),
        (["--from", "puma56"], "puma560"),
        (["--plot", "my.txt"], ".svg"),
    ],
)
def test_design_command_reports_errors(arguments, part, capsys: pytest.CaptureFixture[str]):
    assert design_command.main(arguments) == 1
    printed = capsys.readouterr()
    assert part in printed.err.splitlines()[-1] and printed.out == ""


def test_length_that_is_not_positive_is_refused_before_the_search(capsys):
    with pytest.raises(SystemExit):
        design_command.main(["--length", "-1"])
    assert "argument --length: -1 is not a number above 0" in capsys.readouterr().err


def test_dexterity_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    picture = tmp_path / "slice.svg"
    arguments = ["planar2", "--posture", "elbow_left", "--plot", str(picture)]
    arguments += ["--cells", "20", "--workers", "1"]
    assert dexterity_command.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "elbow_left:" in printed and "best posture:" in printed and "x -0.4" in printed
    assert "<svg" in picture.read_text()
    assert dexterity_command.main(["planar2", "--posture", "elbow_lef"]) == 1
    assert "elbow_left" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        dexterity_command.main(["planar2", "--slice", "xy"])
    assert "--slice has no effect without --plot FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("robot", "plane", "unit"),
    [("planar2", "xy", "m"), ("scara", "xy", "m"), ("nut_arm", "xz", "mm")],
)
def test_plot_alone_takes_the_plane_with_most_of_the_reach(robot, plane, unit, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        dexterity_command, "draw_slice", lambda found, *rest: drawn.append((found, *rest))
    )
    assert dexterity_command.main([robot, "--cells", "8", "--plot", "map.svg"]) == 0
    found, chosen, title, units, _ = drawn[0]
    assert chosen == plane and units.length == unit and title.endswith(f" {unit}")
    assert found.reached.any()


@pytest.fixture
def view(tmp_path, monkeypatch):
    """A view that notes the robot which it shows, and is closed at once; its note."""
    program = tmp_path / "lib" / "arm_tasks" / "view"
    for folder in (program.parent, tmp_path / "share" / "arm_tasks"):
        folder.mkdir(parents=True)
    program.write_text("import shutil, sys; shutil.copy(sys.argv[1], sys.argv[1] + '.shown')")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    return tmp_path / "my.yaml.shown"


def test_command_shows_steps_and_writes_the_last_one(view, tmp_path, capsys):
    file = tmp_path / "my.yaml"
    given = ["--seed", "2", "--view"]
    assert design_command.main([*given, "-o", str(file)]) == 0
    first, last = load_robot(view), load_robot(file)
    assert condition(first, 0.2) > condition(last, 0.2) + 1e-5
    assert design_command.main(given) != 0
    assert "give -o FILE" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_view_has_the_port_and_ends_with_the_command(view, tmp_path, number):
    (tmp_path / "lib/arm_tasks/view").write_text(
        "import sys, time\nprint('shown', *sys.argv[2:], flush=True)\ntime.sleep(600)"
    )
    words = ["-m", "arm_studio.commands.design", "--view", "--viewer-port", "8123", "-o"]
    process = start_python(*words, str(tmp_path / "my.yaml"))
    printed = iter(process.stdout.readline, "")
    assert any(line == "shown --viewer-port 8123\n" for line in printed)
    code, _ = end(process, number)  # the end of the output, which both have
    assert code == -number
