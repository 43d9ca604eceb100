# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest
from arm_common.errors import InputError
from arm_hardware.calibration.axes import Axis
from arm_testing.repository import repository

README = Path(__file__).parents[2] / "README.md"


def test_every_parameter_is_in_the_readme_with_its_default():
    pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import DriverParameters

    rows = [line for line in README.read_text().splitlines() if line.startswith("| `")]
    for parameter in fields(DriverParameters):
        name, default = parameter.name, parameter.default
        (row,) = [r for r in rows if r.startswith(f"| `{name}` |") and r.count("|") == 4][-1:]
        written = row.split("|")[2].strip().strip("`")
        if isinstance(default, bool):
            assert written == str(default).lower()
        elif isinstance(default, int | float):
            assert float(written) == default
        else:
            assert written == default


def test_every_row_about_the_trajectory_controller_has_a_test():
    """The page compares with joint_trajectory_controller; each row names the test of it."""
    page = repository() / "docs" / "reference" / "trajectory_controller.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    named = {row.split("|")[-2].strip().strip("`") for row in rows} - {"test"}
    files = repository().glob("src/arm_*/test/**/test_*.py")
    tests = "".join(file.read_text() for file in files)
    assert len(named) > 30
    assert [name for name in named if f"def {name}(" not in tests] == []


@contextmanager
def node_of(*given):
    rclpy = pytest.importorskip("rclpy")
    context = rclpy.Context()
    rclpy.init(context=context, args=["--ros-args", *(w for g in given for w in ("-p", g))])
    try:
        yield rclpy.create_node("driver", context=context)
    finally:
        rclpy.shutdown(context=context)


def test_clock_is_chosen_at_start_alone():
    """Simulated time without /clock stands still at 0, and joint_states with it."""
    with node_of("use_sim_time:=false") as node:
        from arm_hardware.ros.parameters import driver_parameters
        from rclpy.parameter import Parameter

        driver_parameters(node)
        (result,) = node.set_parameters([Parameter("use_sim_time", value=True)])
        assert not result.successful and "read-only" in result.reason
        assert not node.get_parameter("use_sim_time").value


JOINTS = [Axis(name, "rad", -1.0, 1.0, 1.0, 1.0) for name in ("waist", "elbow")]


def constraints_of(*given, measured=False):
    """Return the default tolerances of a node with two joints, and those after a change."""
    with node_of(*given) as node:
        from arm_hardware.ros.parameters import Constraints
        from rclpy.parameter import Parameter

        constraints = Constraints(node)
        for _ in range(2):  # as configured twice
            constraints.declare_joints(JOINTS, measured)
        before = constraints.tolerances()
        node.set_parameters([Parameter("constraints.elbow.goal", value=0.25)])
        return before, constraints.tolerances()


def test_default_tolerances_are_parameters_as_of_joint_trajectory_controller():
    before, after = constraints_of(
        "constraints.waist.trajectory:=0.1",
        "constraints.elbow.goal:=0.2",
        "constraints.goal_time:=1.5",
        "constraints.stopped_velocity_tolerance:=0.05",
    )
    assert before.path == {"waist": 0.1} and before.goal == {"elbow": 0.2}
    assert before.goal_time == 1.5 and before.stopped == {"waist": 0.05, "elbow": 0.05}
    assert after.goal == {"elbow": 0.25}


def test_default_tolerances_bound_nothing_but_the_last_velocity():
    before, _ = constraints_of()
    assert (before.path, before.goal, before.goal_time) == ({}, {}, 0.0)
    assert before.stopped == {"waist": 0.01, "elbow": 0.01}


def test_servos_that_answer_have_a_goal_tolerance_unless_it_is_set_to_0():
    shipped, _ = constraints_of(measured=True)
    assert shipped.goal == {"waist": 0.1, "elbow": 0.1} and shipped.goal_time == 2.0
    off, _ = constraints_of("constraints.waist.goal:=0.0", measured=True)
    assert off.goal == {"elbow": 0.1}


@pytest.mark.parametrize("value", ["-0.5", "many", ".nan"])
def test_invalid_default_tolerance_is_rejected(value):
    with pytest.raises(InputError, match=r"constraints\.waist\.goal"):
        constraints_of(f"constraints.waist.goal:={value}")
