# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sliders move an arm that stands at a limit, as its servos measure it."""

import itertools
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from arm_description.model.constraints import ConstraintSet, LinearExpression, LinearLimits
from arm_description.model.elements import Payload
from arm_viewer.scene.robot import VisualJoint, read_robot

from arm_description import load_robot
from arm_kinematics import Chain

ELBOW = LinearLimits(
    "elbow",
    (LinearExpression(-2.0),),
    (LinearExpression(0.5, (("shoulder", -1.0),)),),
)
NAMES = ("waist", "shoulder", "elbow")


@pytest.fixture
def commander(monkeypatch):
    """Return a commander of an arm that is just outside of two limits, and what it sends."""
    commands = pytest.importorskip("arm_viewer.ros.joint_commands")
    monkeypatch.setattr(commands, "GoalClient", lambda *_, **__: None)
    sent = []
    publisher = SimpleNamespace(publish=sent.append, get_publisher_count=lambda: 0)
    timer = SimpleNamespace(cancel=lambda: None, reset=lambda: None)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher,
        create_subscription=lambda *_, **__: publisher,
        create_timer=lambda *_, **__: timer,
        resolve_service_name=str,
        count_services=lambda name: int(name.startswith("arm_controller/")),
    )
    measured = {"waist": 1.002, "shoulder": 0.2, "elbow": 0.303}
    made = commands.DriverCommander(node, lambda: measured)
    joints = [VisualJoint(name, False, -1.0, 1.0) for name in NAMES]
    made.set_arm(joints, ConstraintSet(NAMES, [ELBOW]))
    return made, sent


def test_joints_that_stand_just_outside_are_commanded_to_their_limits(commander):
    made, sent = commander
    assert made.move({"waist": 0.9}) == ""
    assert sent[0].points[0].positions.tolist() == pytest.approx([0.9, 0.2, 0.3])
    assert made.move({"elbow": 0.2}) == ""
    assert sent[1].points[0].positions.tolist() == pytest.approx([1.0, 0.2, 0.2])


def seconds_of(message):
    time = message.points[0].time_from_start
    return time.sec + 1e-9 * time.nanosec


def test_long_motion_is_sent_in_parts_that_end_within_command_timeout(commander):
    """A driver takes them for a stream, and brakes soon if this program dies."""
    made, sent = commander
    assert made.move({"waist": -1.0, "elbow": 0.3}) == ""
    for _ in range(100):
        assert seconds_of(sent[-1]) < 0.5
        made._positions().update(dict(zip(NAMES, sent[-1].points[0].positions, strict=True)))
        made._send_next_part()
    assert sent[-1].points[0].positions.tolist() == pytest.approx([-1.0, 0.2, 0.3])
    assert len(sent) == 10  # of 0.4 s each


def test_motion_that_makes_no_progress_is_not_sent_again(commander):
    """A stop holds the arm; after a reset it does not go on."""
    made, sent = commander
    made.move({"waist": -1.0})
    for _ in range(100):
        made._send_next_part()
    assert len(sent) <= 7


def test_slider_beyond_the_limit_is_refused(commander):
    made, sent = commander
    assert "at shoulder 11.46 deg the linkage allows" in made.move({"elbow": 0.31})
    assert not sent


@pytest.fixture
def published(request):
    """Return a function that makes a publisher of sliders, and what it sends each half second.

    A test can choose another period [ns].
    """
    commands = pytest.importorskip("arm_viewer.ros.joint_commands")
    from rclpy.time import Time

    times = itertools.count(1_000_000_000, getattr(request, "param", 500_000_000))
    sent = []
    node = SimpleNamespace(
        create_publisher=lambda *_: SimpleNamespace(publish=sent.append),
        create_timer=lambda *_, **__: SimpleNamespace(reset=lambda: None),
        get_clock=lambda: SimpleNamespace(now=lambda: Time(nanoseconds=next(times))),
        resolve_service_name=str,
        count_services=lambda name: 0,
    )
    return partial(commands.SliderPublisher, node), sent


def test_published_sliders_have_the_mean_speed_since_the_last_message(published, urdf):
    make, sent = published
    sliders = make({"waist": 0.2})
    sliders.set_robot(read_robot(urdf))
    sliders.move({"waist": 0.3})
    sliders.move({"waist": 0.3})
    velocities = [message.velocity.tolist() for message in sent]
    still = [0.0] * 4
    assert velocities == [still, [pytest.approx(0.2), *still[1:]], still]


@pytest.mark.parametrize("published", [1_000_000], indirect=True)
def test_sliders_that_move_in_a_burst_have_no_higher_speeds(published, urdf):
    make, sent = published
    sliders = make({"waist": 0.0})
    sliders.set_robot(read_robot(urdf))
    for step in range(1, 41):
        sliders.move({"waist": 0.01 * (step // 20)})  # every 20 ms
    speeds = [message.velocity[0] for message in sent]
    assert max(speeds) == pytest.approx(0.5)


def test_published_sliders_have_the_efforts_of_gravity(published):
    model = load_robot("nut_arm")
    chain, (make, sent) = Chain.from_model(model), published
    payload = Payload(0.1, (0.0, 0.0, 0.02))
    loaded = replace(model, payload=payload)
    sliders = make({})
    for robot, load in ((model, None), (loaded, payload)):
        sliders.set_robot(read_robot(robot.to_urdf("left_", dh_frames=True)))
        for q in (chain.middle, chain.middle + 0.2):
            sliders.move({f"left_{n}": v for n, v in zip(chain.joint_names, q, strict=True)})
            effort = dict(zip(sent[-1].name, sent[-1].effort, strict=True))
            held = [effort.pop(f"left_{name}") for name in chain.joint_names]
            assert held == pytest.approx(chain.gravity_torques(q, payload=load), abs=1e-9)
            assert len(effort) == len(sent[-1].name) - chain.n > 0  # of the fingers
    assert max(map(abs, held)) > 0.1


@pytest.mark.parametrize("mass", ["0", "-1", "heavy"])
def test_efforts_are_empty_without_valid_masses(published, urdf, mass):
    make, sent = published
    sliders = make({})
    sliders.set_robot(read_robot(urdf))
    assert sent[-1].effort.tolist() == []
    tool = f'<link name="tool0"><inertial><mass value="{mass}"/></inertial></link>'
    sliders.set_robot(read_robot(urdf.replace('<link name="tool0"/>', tool)))
    assert len(sent[-1].position) == 4
    assert sent[-1].effort.tolist() == []
