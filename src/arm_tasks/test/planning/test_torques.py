# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Torques in plans: warnings, slower motions, refusals, and advice that helps."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from arm_description.model.elements import Payload
from arm_description.model.servo_types import SERVO_TYPES
from arm_tasks.commands import check
from arm_tasks.errors import PlanError
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.torques import TorqueCheck
from arm_tasks.scene.file import scene_from_text
from arm_tasks.task.request import PREFERENCES, ArmConfiguration, TorqueLimits, load_request

from arm_description import load_robot
from arm_kinematics import Chain

STANDARD = TorqueLimits()
HOLDING = np.array([0.0, 0.9, 0.3, 0.0])  # a posture that gravity pulls down
STEPS = ("move_posture: ready", "move_posture: rest")


def with_servos(model, torque):
    """Return the arm with other servos [N m]."""
    return replace(model, joints=tuple(replace(j, effort=torque) for j in model.joints))


@pytest.fixture
def checked(request_for, model):
    def make(torque, steps=STEPS, limits=STANDARD):
        weak = with_servos(model, torque)
        request = request_for(steps, model=weak, chain=Chain.from_model(weak))
        return check_feasibility(replace(request, torques=limits))

    return make


def test_shipped_servos_are_strong_enough(checked, model):
    found = checked(model.joints[1].effort)
    assert found.plan.feasible and not any("servo" in text for text in found.plan.warnings)
    assert all(0.0 < r.torque_share < 0.6 for r in found.plan.reports)
    assert {r.torque_joint for r in found.plan.reports} <= {"shoulder", "elbow"}
    assert (
        re.search(r"move_posture ready .* \d+ %  fine", found.text()) or "torque" in found.text()
    )
    assert found.as_dict()["steps"][0]["torque_joint"] in ("shoulder", "elbow")


def test_warning_names_the_worst_step_of_a_joint(checked):
    strong = checked(0.9)
    worst = max(r.torque_share for r in strong.plan.reports) * 0.9  # [N m]
    found = checked(worst / 0.8)
    (warning,) = [text for text in found.plan.warnings if "servo" in text]
    assert found.plan.feasible and "needs 80 % of its torque; above 60 %" in warning
    assert not checked(worst / 0.8, limits=TorqueLimits(0.85, 1.0)).plan.warnings


def test_motion_is_slowed_until_its_accelerations_fit(checked, chain):
    strong = checked(0.9)
    still = max(
        np.abs(chain.gravity_torques(step.trajectory.positions)).max()
        for step in strong.plan.steps
    )
    moving = max(r.torque_share for r in strong.plan.reports) * 0.9
    assert moving > still
    found = checked(0.5 * (still + moving))
    assert found.plan.feasible and found.plan.duration > strong.plan.duration
    assert max(r.torque_share for r in found.plan.reports) == pytest.approx(1.0, abs=0.01)


def test_weak_servo_is_refused_and_the_advised_one_is_enough(checked):
    torque = 0.02
    found = checked(torque)
    assert not found.plan.feasible
    refusal = found.plan.refusal
    assert refusal.torque_share > 1.0
    message = refusal.message
    assert re.match(r"the servo of (shoulder|elbow) needs \d+ % of its torque, the limit", message)
    assert message.endswith(
        "or weigh the links: the masses are estimated, as the robot file has none"
    )
    percent = int(re.search(r"fit a servo with (\d+) % of its torque", message)[1])
    assert checked(torque * percent / 100).plan.reports[refusal.index].feasible
    assert checked(torque, limits=TorqueLimits(5.0, 50.0)).plan.feasible


def carrying(model, mass, torque):
    weak = with_servos(model, torque)
    chain = Chain.from_model(weak)
    start = ArmConfiguration.of_posture(weak)
    request = load_request("pick_and_place", weak, chain, start)
    cell = replace(request.scene.object("cell"), mass=mass)
    scene = replace(request.scene, objects={**request.scene.objects, "cell": cell})
    return plan_task(replace(request, scene=scene))


def test_payload_that_is_too_heavy_is_refused_and_the_advised_one_is_carried(model):
    assert carrying(model, 0.023, 0.3).feasible
    found = carrying(model, 0.6, 0.3)
    grams = int(re.search(r"carry at most (\d+) g instead of 600 g", found.message)[1])
    refused = found.refusal.index
    reports = carrying(model, grams * 1e-3, 0.3).reports
    assert len(reports) > refused and reports[refused].feasible


def test_posture_that_loads_the_servos_less_is_preferred_if_asked_for(request_for):
    """Of the postures for a point the planner takes the nearest, or that with the least torque."""
    arm = load_robot("five_axis")
    chain = Chain.from_model(arm)
    point = chain.fk([1.4, 1.46, 1.55, -1.44, 1.03])[:3, 3]
    step = f"move_pose: {{xyz: {point.round(5).tolist()}, orientation: any}}"
    request = request_for([step], model=arm, chain=chain)
    check = TorqueCheck(arm, chain, STANDARD)
    shares = {}
    for prefer in PREFERENCES:
        end = plan_task(replace(request, prefer=prefer), collisions=False).steps[-1].end
        assert np.allclose(chain.fk(end)[:3, 3], point, atol=1e-3)
        shares[prefer] = check.holding(end, None).share
    assert shares["torque"] < 0.5 * shares["nearest"]


@pytest.mark.parametrize("limits", [(0.0, 1.0), (0.9, 0.6), (0.5, float("nan"))])
def test_limits_out_of_order_are_refused(limits):
    with pytest.raises(PlanError, match="give positive shares, the warning not above"):
        TorqueLimits(*limits)


def test_check_has_the_limits_as_options(capsys):
    assert check.main(["pick_and_place", "--torque-warning", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("above 5 %" in text for text in found["warnings"])
    assert check.main(["pick_and_place", "--torque-warning", "5", "--torque-limit", "8"]) == 1
    assert "REFUSED" in capsys.readouterr().out
    assert check.main(["--torque-limit", "5"]) == 2
    assert "torque limits of 0.6 (warning) and 0.05" in capsys.readouterr().err


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0]])
def test_motion_without_a_duration_needs_the_torques_at_rest(times, model, chain):
    q = np.array([HOLDING] * len(times))
    point = PlannedTrajectory(chain.joint_names, np.array(times), q, np.zeros_like(q))
    use = (torques := TorqueCheck(model, chain, STANDARD)).moving(point, None)
    assert use == torques.holding(q[0], None) and use.share > 0.0
    assert torques.slowed(point, None) is point


def test_point_that_is_given_twice_changes_no_torque(model, chain):
    q = np.array([np.zeros(4), HOLDING])
    motion = PlannedTrajectory(chain.joint_names, np.array([0.0, 1.0]), q, q)
    twice = [0, 1, 1]
    again = PlannedTrajectory(chain.joint_names, motion.times[twice], q[twice], q[twice])
    torques = TorqueCheck(model, chain, STANDARD)
    assert torques.moving(again, None) == torques.moving(motion, None)


def test_joints_without_effort_are_named_and_those_with_a_servo_are_checked(request_for):
    """A cube of 5 kg is no load for the joints of a hobby arm."""
    so101 = load_robot("so101")
    assert {joint.effort for joint in so101.joints} == {SERVO_TYPES["sts3215"].continuous}
    unknown = with_servos(so101, math.inf)
    heavy = Payload(5.0, (0.0, 0.0, 0.0))
    for arm, fine in ((so101, False), (unknown, True)):
        arm = replace(arm, payload=heavy)
        steps, chain = ("move_posture: ready",), Chain.from_model(arm)
        free = scene_from_text("scene: free\n", "free.yaml", arm.name)
        request = request_for(steps, scene=free, model=arm, chain=chain, width=0.01)
        found = check_feasibility(request)
        assert found.plan.feasible == fine, found.message
        said = "Not checked: no effort for shoulder_pan, shoulder_lift, elbow_flex" in found.text()
        assert said == fine
        assert found.as_dict()["torque_not_checked"] == (list(arm.joint_names) if fine else [])
