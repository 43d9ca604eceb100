# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a check allows with a calibration, a driver with the same calibration never refuses."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import yaml
from arm_common.transforms import matrix_rpy
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.trajectories.files import write_trajectory
from arm_description.trajectories.trajectory import JointTrajectory
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.selection import robot_with_servos
from arm_hardware.calibration.writing.template import template
from arm_hardware.errors import CalibrationError, HardwareError
from arm_hardware.motion.options import DriverOptions
from arm_kinematics.commands.describe import main as describe
from arm_kinematics.commands.pose import ik
from arm_simulation.arms.driver_arm import DriverArm
from arm_studio.commands import dexterity as dexterity_command
from arm_studio.commands.dexterity import main as dexterity
from arm_studio.commands.moveit import dh2moveit
from arm_studio.commands.trajectory import main as trajectory
from arm_tasks.commands.check import main as check
from arm_tasks.errors import TasksError
from arm_tasks.execution.ports import MoveState
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import scene_from_text
from arm_tasks.task.parser import task_from_text
from arm_tasks.task.request import TaskRequest
from arm_testing.waiting import InstantClock

from arm_description import load_robot
from arm_kinematics import Chain

SCENE = scene_from_text("scene: free\nfloor: -5\n")


def measured(model, rng, file):
    """Write a calibration whose servos reach less, or are slower, than the robot file says."""
    data = yaml.safe_load(template(model))
    entries = data["joints"] | ({"gripper": data["gripper"]} if "gripper" in data else {})
    axes, drivetrain = axes_of(model), Drivetrain.of(model)
    reach = np.array([drivetrain.to_actuators(q) for q in (model.lower, model.upper)]).T
    reached = dict(zip(drivetrain.actuators, np.sort(reach), strict=True))
    for axis in axes.actuators:
        entry = entries[axis.name]
        (key,) = (k for k in entry if k.startswith("points"))
        unit = key.split("_")[1]
        scale = 1e3 if unit == "mm" else 180.0 / np.pi
        claw = axes.claw(axis)
        span = reached.get(axis.name, (axis.lower, axis.upper))
        span = (claw.closed, claw.open) if claw else span
        lower, upper = np.array(span) * scale
        inside = rng.uniform(0.0, 0.2, 2) * (upper - lower) * (rng.random(2) < 0.5)
        shift = 0.0 if claw or unit == "mm" else float(rng.uniform(-20.0, 20.0))
        sign = 1 if claw or unit == "mm" else int(rng.choice([-1, 1]))
        ends = sorted(sign * x + shift for x in (lower + inside[0], upper - inside[1]))
        pulses = [p for _, p in entry[key]]
        entry[key] = [[float(x), p] for x, p in zip(ends, pulses, strict=True)]
        if sign < 0 or shift:
            entry |= {"sign": sign, f"zero_{unit}": shift}
        if rng.random() < 0.5:
            entry[f"speed_{unit}_s"] = float(rng.uniform(0.2, 1.0) * axis.velocity * scale)
    file.write_text(yaml.safe_dump(data))
    return str(file)


def random_steps(model, limited, rng):
    """Yield steps whose targets lie mostly inside the limits of the servos."""
    for _ in range(4):
        share = rng.uniform(0.0, 1.0, model.n).round()
        wide = rng.random() < 0.05
        of = model if wide else limited
        q = of.lower + (of.upper - of.lower) * np.where(rng.random(model.n) < 0.3, share, 0.5)
        inside = None if wide else limited.constraint_set.nearest(q, limited.lower, limited.upper)
        q = q if inside is None else inside
        pairs = zip(model.joint_names, q.tolist(), strict=True)
        joints = ", ".join(f"{joint}: {position!r}" for joint, position in pairs)
        yield f"move_joints: {{joints: {{{joints}}}, speed: {rng.uniform(0.3, 1.0):.3g}}}"
        if model.gripper is not None:
            width = 1e3 * rng.uniform(limited.gripper.min_width, limited.gripper.max_width)
            yield rng.choice(["open: {}", "close: {}", f"open: {{width_mm: {width:.9g}}}"])


class TickingArm(DriverArm):
    """A driver's arm whose emulated servos move with its ticks."""

    def step(self):
        self.driver.clock.time += self.period
        super().step()


def refusals(plan, arm):
    """Return why a driver refuses parts of a plan, each begun where the one before has ended."""
    found = []
    for step in plan.steps:
        moves = []
        if step.trajectory is not None:
            moves.append(arm.move(step.trajectory))
        if step.width is not None:
            moves.append(arm.set_width(step.width))
        for _ in range(10_000):
            if all(move.poll().state is not MoveState.RUNNING for move in moves):
                break
            arm.step()
        ended = [move.poll() for move in moves]
        found += [(step.message, e.message) for e in ended if e.state is not MoveState.SUCCEEDED]
    return found


@pytest.mark.parametrize(
    ("name", "examples"),
    [("learm", 12), ("nut_arm", 12), ("mearm", 12), ("eezybotarm_mk2", 12), ("so101", 2)],
)
def test_driver_refuses_nothing_that_was_checked_with_its_calibration(name, examples, tmp_path):
    model, rng = load_robot(name), np.random.default_rng(7)
    fine = refused = unfit = 0
    for example in range(examples):
        file = measured(model, rng, tmp_path / f"{example}.yaml")
        options = DriverOptions(hardware="sim", backend="auto", calibration=file)
        try:
            limited = robot_with_servos(model, file)
            arm = TickingArm(model, options, InstantClock())
        except (CalibrationError, HardwareError):
            unfit += 1
            continue
        arm.arm()
        start = arm.configuration()
        steps = "".join(f"  - {step}\n" for step in random_steps(model, limited, rng))
        task = task_from_text(f"task: t\nsteps:\n{steps}", "t.yaml")
        request = TaskRequest(task, SCENE, limited, Chain.from_model(limited), start)
        try:
            plan = plan_task(request, collisions=False)
        except TasksError:  # a width beyond the jaws
            refused += 1
            continue
        if not plan.feasible:
            refused += 1
            continue
        try:
            assert refusals(plan, arm) == []
        finally:
            arm.driver.close("release")
        fine += 1
    # of few does no driver accept the calibration, and of few are all tasks out of reach
    assert unfit <= examples / 3 and fine >= examples / 2, (fine, refused, unfit)


@pytest.fixture
def reduced(tmp_path):
    """Return a calibration of learm whose elbow is slow and reaches half as far up."""
    model = load_robot("learm")
    data = yaml.safe_load(template(model))
    elbow, joint = data["joints"]["elbow"], model.joints[2]
    elbow["limits_deg"] = np.degrees([joint.lower, 0.5 * joint.upper]).tolist()
    elbow["speed_deg_s"] = float(np.degrees(0.1 * joint.velocity))
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


def test_offline_commands_keep_the_limits_of_a_calibration(reduced, tmp_path, capsys):
    model = load_robot("learm")
    limited = load_robot("learm", str(reduced))
    assert limited.joints[2].upper == pytest.approx(0.5 * model.joints[2].upper)
    words = ["--calibration", str(reduced)]
    assert describe(["learm"]) == 0 == describe(["learm", *words])
    upper = f"{np.degrees(limited.joints[2].upper):.9g} deg"
    said = capsys.readouterr().out.split("The limits are those of")
    assert upper not in said[0].split("learm:")[1] and upper in said[0].split("learm:")[2]
    q = 0.5 * (model.lower + model.upper)
    q[2] = 0.9 * model.joints[2].upper
    x, y, z = (1e3 * model.fk(q)[:3, 3]).tolist()
    rpy = np.degrees(matrix_rpy(model.fk(q))[1]).tolist()
    pose = ["learm", *(f"{value:.9g}" for value in (x, y, z, *rpy))]
    elbows = []
    for more in ([], words):
        assert ik([*pose, "--plain", *more]) == 0
        elbows.append([float(row.split()[2]) for row in capsys.readouterr().out.splitlines()])
    assert elbows == [pytest.approx([81.0, -81.0]), pytest.approx([-81.0])]
    file = tmp_path / "path.csv"
    write_trajectory(file, JointTrajectory(model.joint_names, np.zeros(1), q[None]), model)
    path = ["learm", str(file)]
    assert trajectory(path) == 0 and trajectory([*path, *words]) == 1
    assert "its limit" in capsys.readouterr().err


def test_reach_and_moveit_package_are_those_of_a_calibration(
    reduced, tmp_path, capsys, monkeypatch
):
    limited, words = load_robot("learm", str(reduced)), ["--calibration", str(reduced)]
    drawn, plot = [], ["--slice", "xz", "--cells", "8", "--plot", "map.svg"]
    monkeypatch.setattr(
        dexterity_command, "draw_slice", lambda found, *_: drawn.append(found.isotropy)
    )
    for more in ([], words, [*words, "--workers", "2"]):
        assert dexterity(["learm", *plot, *more]) == 0
    said = capsys.readouterr().out.splitlines()
    volumes = [float(line.split()[1]) for line in said if line.startswith("volume:")]
    assert volumes[1] == volumes[2] < 0.95 * volumes[0]
    assert np.array_equal(drawn[1], drawn[2], equal_nan=True)
    assert not np.array_equal(drawn[0], drawn[1], equal_nan=True)
    assert dh2moveit(["learm", "-o", str(tmp_path), *words]) == 0
    folder = tmp_path / "learm_moveit_config/config"
    urdf = ET.fromstring((folder / "learm.urdf").read_text())
    elbow = urdf.find("joint[@name='elbow']/limit")
    assert float(elbow.get("upper")) == pytest.approx(limited.joints[2].upper)
    rates = yaml.safe_load((folder / "joint_limits.yaml").read_text())["joint_limits"]["elbow"]
    assert rates["max_velocity"] == pytest.approx(limited.joints[2].velocity)


@pytest.mark.parametrize("command", [check, describe, dexterity, dh2moveit, ik, trajectory])
@pytest.mark.parametrize("text", [None, "robot: learm\n", "["])
def test_invalid_calibration_is_reported_in_one_sentence(tmp_path, capsys, command, text):
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_text(text)
    words = {ik: ["learm", "1", "2", "3"], check: [], trajectory: ["learm", "wave"]}
    assert command([*words.get(command, ["learm"]), "--calibration", str(file)]) in (1, 2)
    error = capsys.readouterr().err
    assert "mine.yaml" in error and error.count("\n") == 1, error


@pytest.mark.parametrize(("width", "code"), [("", 0), ("{width_mm: 59.05}", 2)])
def test_jaws_open_as_far_as_they_were_measured(tmp_path, capsys, width, code):
    data = yaml.safe_load(template(load_robot("learm")))
    data["gripper"]["points_mm_us"][-1][0] = 59
    servos, task = tmp_path / "mine.yaml", tmp_path / "task.yaml"
    servos.write_text(yaml.safe_dump(data))
    task.write_text(f"task: jaws\nsteps:\n  - open: {width or '{}'}\n")
    words = [str(task), "--robot", "learm", "--calibration", str(servos)]
    assert check(words) == code
    said = capsys.readouterr()
    assert ("not within 0 to 59 mm" in said.err) is bool(code)
    assert ("jaws to 59.0 mm" in said.out or "Fine" in said.out) is not bool(code)
