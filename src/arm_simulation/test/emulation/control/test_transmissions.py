# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm with a gear, two servos on the shoulder, and an elbow servo on the base."""

import contextlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.kinematic_fit import joint_zeros, tip_position
from arm_hardware.calibration.writing.template import template
from arm_hardware.commands.calibrate_kinematics import with_zeros
from arm_hardware.commands.verify import tip_resolution
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import RELEASE, CommandError, HardwareError, StateError
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_hardware.motion.options import DriverOptions
from arm_hardware.motion.trajectory_start import plan_yield

from arm_description import parse_robot

ROBOT = """\
name: linkage_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 90,
     limits: {lower: -80, upper: 80, velocity: 90, acceleration: 400}}
  - {name: shoulder, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: 40, upper: 120, velocity: 60, acceleration: 300}}
  - {name: elbow, type: revolute, d: 0, a: 147, alpha: 0,
     limits: {lower: -140, upper: -40, velocity: 90, acceleration: 400}}
  - {name: wrist, type: revolute, d: 0, a: 60, alpha: 0,
     limits: {lower: -90, upper: 90, velocity: 180, acceleration: 720}}
gripper: {joints: [left, right], min_width: 0, max_width: 40, velocity: 40}
postures:
  rest: {waist: 0, shoulder: 90, elbow: -90, wrist: 0, gripper: 20}
transmissions:
  - {type: simple, joint: waist, mechanical_reduction: -2.05}
  - {type: several, joint: shoulder, actuators: [shoulder_left, shoulder_right],
     mirrored: [false, true], allowed_difference: 3}
  - ELBOW
  - {type: table, joint: wrist, points: [[-90, -100], [0, 0], [90, 80]]}
"""
PARALLELOGRAM = (
    "{type: parallelogram, joint: elbow, against: shoulder, range: [-60, 40], velocity: 80, "
    "acceleration: 250}"
)
CRANK = (
    "{type: crank, joint: elbow, against: shoulder, range: [-60, 40], velocity: 80, "
    "acceleration: 450, ground: 135, crank: 38, rod: 138, rocker: 40, rocker_angle: 180, "
    "crank_angle: 180}"
)
# With such lengths the range of the elbow is a bowed function of the shoulder
BOWED = CRANK.replace("rod: 138", "rod: 150").replace("crank: 38", "crank: 55")
SERVOS = """\
example: true
robot: linkage_arm
board: {}
joints:
  waist: {channel: 0, points_deg_us: [[-180, 600], [180, 2400]], pulse_limits_us: [600, 2400]}
  shoulder_left: {channel: 4,
    points_deg_us: [[30, 800], [130, 2000]], pulse_limits_us: [700, 2100]}
  shoulder_right: {channel: 5, sign: -1, zero_deg: 3,
    points_deg_us: [[30, 2050], [135, 790]], pulse_limits_us: [700, 2100]}
  elbow: {channel: 2, points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]}
  wrist: {channel: 3, points_deg_us: [[-100, 500], [100, 2500]], pulse_limits_us: [500, 2500]}
gripper: {channel: 6, points_mm_us: [[0, 1000], [40, 2000]], pulse_limits_us: [1000, 2000]}
"""
DT = 0.02


@pytest.fixture(params=[PARALLELOGRAM, CRANK], ids=["parallelogram", "crank"])
def model(request):
    return parse_robot(ROBOT.replace("ELBOW", request.param))


@pytest.fixture
def servos(tmp_path):
    path = tmp_path / "linkage_arm_servos.yaml"
    path.write_text(SERVOS)
    return path


@pytest.fixture
def bench(servos, make_bench):
    bench = make_bench(calibration=str(servos))
    bench.driver.open()
    return bench


def degrees(*values):
    return [math.radians(v) for v in values]


def servo_angles(bench):
    """The servos' positions by the pulses on the board."""
    chip, maps = bench.chip, bench.driver.output.maps
    return np.array([m.position_of(chip.count(m.channel)) for m in maps])


def joints(bench):
    return np.array(bench.controller.snapshot().positions[:4])


def settle(bench, ticks=2000):
    for _ in range(ticks):
        if bench.controller.state is not DriverState.MOVING:
            return
        bench.tick()
    raise AssertionError("the motion does not end")


def test_pulses_are_those_of_the_transmissions(bench):
    bench.arm()
    assert servo_angles(bench)[:5] == pytest.approx(
        bench.driver.axes.coupling.to_actuators(degrees(0, 90, -90, 0)), abs=math.radians(0.4)
    )
    goal = bench.go(*degrees(40, 70, -100, 45), time=3.0)
    settle(bench)
    assert goal.outcome.name == "SUCCEEDED", goal.message
    expected = bench.driver.axes.coupling.to_actuators(degrees(40, 70, -100, 45))
    assert expected[0] == pytest.approx(math.radians(-82)) and expected[2] == -expected[1]
    found = servo_angles(bench)[:5]
    assert found == pytest.approx(expected, abs=math.radians(0.4))
    assert joints(bench) == pytest.approx(degrees(40, 70, -100, 45), abs=math.radians(0.6))


def test_start_reads_the_joints_back_from_the_pulses(bench):
    bench.arm()
    bench.go(*degrees(-30, 100, -110, 20), time=3.0)
    settle(bench)
    counts = [bench.chip.count(m.channel) for m in bench.driver.output.maps]
    bench.controller.read()
    assert joints(bench) == pytest.approx(degrees(-30, 100, -110, 20), abs=math.radians(0.6))
    bench.controller.arm()
    assert not bench.controller.arming
    bench.tick(10)
    assert counts == [bench.chip.count(m.channel) for m in bench.driver.output.maps]
    goal = bench.go(*degrees(0, 90, -90, 0), time=3.0)
    settle(bench)
    assert goal.outcome.name == "SUCCEEDED", goal.message


class ServoWatch:
    """Checks after each tick that servos keep their limits, and joints their constraints."""

    def __init__(self, bench):
        self._bench, coupling = bench, bench.driver.axes.coupling
        self._fastest = np.array([a.velocity for a in coupling.actuators])
        self._hardest = np.array([a.acceleration for a in coupling.actuators])
        self._constraints = coupling.constraints
        self.rest()

    def rest(self):
        """Begin at rest, such as after a stop."""
        self._places = [self._commanded()] * 2
        self._sent = servo_angles(self._bench)[:5]

    def _commanded(self):
        command = self._bench.controller.command()[0]
        return np.array(self._bench.driver.output.to_servos(command)[:5])

    def tick(self):
        self._bench.tick()
        snapshot = self._bench.controller.snapshot()
        assert snapshot.state in (DriverState.ARMED, DriverState.MOVING), snapshot.message
        self._places = [*self._places[-2:], self._commanded()]
        steps, now = np.diff(self._places, axis=0), servo_angles(self._bench)[:5]
        size = 0.0075  # of a count, generously
        assert (np.abs(steps[-1]) <= self._fastest * DT + 1e-6).all()
        assert (np.abs(steps[-1] - steps[-2]) <= self._hardest * DT**2 + 1e-6).all()
        assert (np.abs(now - self._sent) <= self._fastest * DT + size).all()
        assert abs(now[1] + now[2]) < math.radians(1.0)  # the two of the shoulder
        assert self._constraints.violation(self._bench.controller.command()[0][:4]) < 2e-3
        self._sent = now


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_servo_exceeds_its_speed_and_acceleration_whatever_moves_together(bench, seed):
    rng = np.random.default_rng(seed)
    bench.arm()
    watch, started = ServoWatch(bench), 0
    for _ in range(400):
        event = rng.uniform()
        if event < 0.05:
            q = [rng.uniform(a.lower, a.upper) for a in bench.driver.axes.arm]
            with contextlib.suppress(CommandError):
                goal = bench.go(*q, time=float(rng.uniform(0.3, 3.0)))
                started += 1
        elif event < 0.07:
            bench.controller.set_speed_scaling(float(rng.uniform(0.0, 1.0)))
        elif event < 0.08 and started:
            bench.controller.cancel(goal)
        elif event < 0.09:
            bench.controller.set_speed_scaling(1.0)
        elif event < 0.095:
            bench.controller.stop()
            bench.controller.reset()
            watch.rest()
        watch.tick()
    assert started > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_no_servo_exceeds_its_limits_when_followed_or_jogged(bench, seed):
    """A stream: short steps each few ticks, as jogging and drag send them, that also ends."""
    rng = np.random.default_rng(seed)
    bench.arm()
    watch, accepted, axes = ServoWatch(bench), 0, bench.driver.axes
    velocity = np.zeros(4)
    for k in range(300):
        if k % 150 < 110 and k % 3 == 0:
            velocity = 0.9 * velocity + 0.2 * rng.normal(size=4)
            at = np.array(bench.controller.command()[0][:4])
            with contextlib.suppress(CommandError):
                point = GoalPoint(0.1, tuple(at + 0.1 * velocity))
                goal = validate_goal(TrajectoryGoal(axes.names, (point,)), axes)
                bench.controller.follow(goal, streamed=True)
                accepted += 1
        watch.tick()
    assert accepted > 10


def test_counts_of_the_joints_of_counts_are_the_same(bench):
    """Servo -> joint -> servo is the identity to a count, for gear, pair, linkage and table."""
    rng, axes, output = np.random.default_rng(5), bench.driver.axes, bench.driver.output
    for _ in range(300):
        q = [rng.uniform(a.lower, a.upper) for a in axes.all]
        counts = [m.count_of(a) for m, a in zip(output.maps, output.to_servos(q), strict=True)]
        servos = [m.position_of(count) for m, count in zip(output.maps, counts, strict=True)]
        again = output.to_servos(output.to_axes(servos))
        found = [m.count_of(a) for m, a in zip(output.maps, again, strict=True)]
        # The mean of two servos with unlike points may round to the next count of one
        assert np.abs(np.subtract(found, counts)).max() <= 1
        assert [found[i] for i in (0, 3, 4, 5)] == [counts[i] for i in (0, 3, 4, 5)]


def test_servo_that_would_be_too_fast_delays_the_whole_arm(bench):
    bench.arm()
    goal = bench.go(*degrees(0, 110, -80, 0), time=0.35)  # the elbow's servo turns by 30 deg
    ticks = 0
    while not goal.done:
        bench.tick()
        ticks += 1
    assert goal.outcome.name == "SUCCEEDED" and ticks * DT > 0.5


def test_goal_outside_what_the_linkage_allows_is_refused_with_the_range(bench):
    points = [GoalPoint(1.0, degrees(0, 90, -90, 0)), GoalPoint(3.0, degrees(0, 50, -130, 0))]
    request = TrajectoryGoal(bench.driver.axes.names, points)
    with pytest.raises(CommandError, match=r"elbow: at shoulder 50 deg .* allow") as found:
        validate_goal(request, bench.driver.axes)
    assert "at point 2" in str(found.value) and found.value.joint == "elbow"


@pytest.mark.parametrize("model", [BOWED], indirect=True)
def test_line_between_two_allowed_points_may_leave_what_the_linkage_allows(bench):
    bench.arm()
    axes = bench.driver.axes
    constraint = axes.coupling.constraints.constraints[0]
    ends = [
        [0.0, shoulder, constraint.bounds({"shoulder": shoulder})[0] + 1e-7, 0.0]
        for shoulder in degrees(41, 48)
    ]
    for goal in ends:
        validate_goal(TrajectoryGoal(axes.names, [GoalPoint(4.0, goal)]), axes)
    request = TrajectoryGoal(axes.names, [GoalPoint(4.0, ends[0]), GoalPoint(8.0, ends[1])])
    with pytest.raises(CommandError, match=r"elbow: at shoulder 4.* s after the start"):
        bench.controller.follow(validate_goal(request, axes))


def test_braking_stays_on_the_path(bench):
    bench.arm()
    start, end = np.array(degrees(0, 90, -90, 0)), np.array(degrees(60, 60, -105, 60))
    goal = bench.go(*end, time=1.5)
    bench.tick(30)
    bench.controller.cancel(goal)
    settle(bench)
    assert goal.outcome.name == "CANCELED"
    way = np.array(bench.controller.command()[0][:4]) - start
    share = way[0] / (end - start)[0]
    assert 0.1 < share < 0.95
    assert way == pytest.approx(share * (end - start), abs=1e-6)


def test_servos_of_one_joint_are_armed_together_and_released_together(bench):
    starts = []
    bench.controller.arm()
    while bench.controller.arming:
        bench.tick()
        starts.append((bool(bench.chip.count(4)), bool(bench.chip.count(5))))
    assert set(starts) == {(False, False), (True, True)}
    bench.controller.release("test.")
    assert not bench.chip.count(4) and not bench.chip.count(5)


def test_partner_of_a_servo_with_pulses_is_armed_where_that_is(bench):
    bench.arm()
    bench.go(*degrees(0, 70, -95, 0), time=3.0)
    settle(bench)
    left = bench.chip.count(4)
    bench.driver.output.bus.release([5])
    bench.controller.disarm("test.")
    bench.controller.arm()
    while bench.controller.arming:
        bench.tick()
        assert bench.chip.count(4) == left
    angles = servo_angles(bench)
    assert angles[1] + angles[2] == pytest.approx(0.0, abs=math.radians(0.5))


def test_servos_of_one_joint_read_back_apart_are_a_fault(bench):
    bench.arm()
    bench.controller.disarm("test.")
    servo = bench.driver.output.maps[2]
    count = servo.count_of(servo.position_of(bench.chip.count(5)) + math.radians(5))
    bench.driver.output.bus.write({5: count})
    with pytest.raises(StateError, match="shoulder: its servos shoulder_left and shoulder_right"):
        bench.controller.arm()
    snapshot = bench.controller.snapshot()
    assert snapshot.state is DriverState.FAULT
    assert "differ by 4.6" in snapshot.message and f"Run {RELEASE} --driver" in snapshot.message
    with pytest.raises(StateError, match="FAULT"):
        bench.go(*degrees(0, 90, -90, 0))


def test_servos_of_one_joint_are_never_sent_apart(bench, monkeypatch):
    bench.arm()
    output = bench.driver.output
    before = output.bus.read([4, 5])
    right = output.maps[2]
    away = math.radians(5)
    monkeypatch.setattr(
        type(right), "count_of", lambda self, q: 300 if self.channel == 5 else 301, raising=True
    )
    with pytest.raises(HardwareError, match="work against each other; this was held back"):
        output.write(bench.controller.command()[0], first=True)
    assert output.bus.read([4, 5]) == before and away


def test_speed_of_a_calibrated_servo_bounds_its_joint_over_the_gear(model, servos):
    text = servos.read_text()
    servos.write_text(text.replace("waist: {channel: 0,", "waist: {channel: 0, speed_deg_s: 82,"))
    axes = load_calibration(servos).narrowed(axes_of(model))
    assert axes.arm[0].velocity == pytest.approx(math.radians(40))
    # and its travel of +-180 deg bounds it to 87.8 deg, more than its limits
    assert axes.arm[0].upper == pytest.approx(math.radians(80))
    servos.write_text(
        text.replace("waist: {channel: 0,", "waist: {channel: 0, limits_deg: [-41, 82],")
    )
    axes = load_calibration(servos).narrowed(axes_of(model))
    assert (axes.arm[0].lower, axes.arm[0].upper) == pytest.approx(tuple(degrees(-40, 20)))


def test_template_of_a_calibration_has_an_entry_for_each_actuator(model, tmp_path):
    path = tmp_path / "new.yaml"
    path.write_text(template(model))
    servos = load_calibration(path).servos
    assert list(servos) == [
        *Drivetrain.of(model).actuators,
        "gripper",
    ]
    load_calibration(path).maps(axes_of(model))


def test_tip_moves_by_the_resolution_of_the_worst_servo(model, servos):
    maps = load_calibration(servos).maps(axes_of(model))[:5]
    q = np.array(degrees(10, 80, -95, 5))
    actuators = Drivetrain.of(model).to_actuators(q)
    moved = []
    for k, servo in enumerate(maps):
        count = servo.count_of(actuators[k])
        step = abs(servo.position_of(count + 1) - servo.position_of(count))
        beside = Drivetrain.of(model).to_joints(actuators + step * np.eye(5)[k])
        moved.append(np.linalg.norm(tip_position(model, beside) - tip_position(model, q)))
    assert tip_resolution(model, q, maps) == pytest.approx(max(moved), rel=0.02)


@pytest.mark.parametrize("model", [PARALLELOGRAM], indirect=True)
def test_fitted_zeros_of_joints_become_zeros_of_actuators(model, servos, tmp_path):
    table = "  - {type: table, joint: wrist, points: [[-90, -100], [0, 0], [90, 80]]}\n"
    linear = parse_robot(ROBOT.replace("ELBOW", PARALLELOGRAM).replace(table, ""))
    q, off = np.array(degrees(10, 80, -95, 5)), np.array(degrees(2, -3, 0, 1))
    before = load_calibration(servos).maps(axes_of(linear))
    found = SimpleNamespace(
        parameters=[p for p in joint_zeros(linear) if p.name != "elbow"], values=off[[0, 1, 3]]
    )
    after = with_zeros(servos, found, Drivetrain.of(linear)).calibration.maps(axes_of(linear))
    pulses = [
        [
            m.setpoint_of(a)
            for m, a in zip(maps, Drivetrain.of(linear).to_actuators(at), strict=False)
        ]
        for maps, at in ((before, q - off), (after, q))
    ]
    assert pulses[0] == pytest.approx(pulses[1], abs=0.1)
    with pytest.raises(HardwareError, match="crank or a measured table"):
        with_zeros(servos, found, Drivetrain.of(model))


def test_fake_hardware_takes_the_same_way(model):
    driver = Driver(model, DriverOptions())
    driver.open()
    try:
        driver.arm()
        assert len(driver.output.maps) == 6
        found = driver.controller.snapshot().positions
        assert found == pytest.approx((*degrees(0, 90, -90, 0), 0.02), abs=1e-6)
    finally:
        driver.close()


@pytest.mark.parametrize("model", [PARALLELOGRAM], indirect=True)
def test_rest_posture_that_the_servos_do_not_reach_is_refused(servos, make_bench):
    text = servos.read_text()
    servos.write_text(
        text.replace("elbow: {channel: 2,", "elbow: {channel: 2, limits_deg: [5, 40],")
    )
    with pytest.raises(HardwareError, match=r"at shoulder 90 deg .* the rest posture is outside"):
        make_bench(calibration=str(servos))


def test_blocked_arm_yields_within_all_limits(bench):
    """Wherever it is blocked: also in postures that limits by other joints do not allow."""
    axes, rng = bench.driver.axes, np.random.default_rng(5)
    coupling = axes.coupling
    lower, upper = (np.array([getattr(a, end) for a in axes.arm]) for end in ("lower", "upper"))
    speed, acceleration = (
        np.array([getattr(a, what) for a in (*axes.arm, *coupling.actuators)])
        for what in ("velocity", "acceleration")
    )
    reached = 0
    for _ in range(60):
        now = coupling.constraints.nearest(rng.uniform(lower, upper), lower, upper)
        there = now + rng.normal(0.0, 0.2, len(now))
        motion = plan_yield(axes, now, there, DT)
        q = motion.samples(np.arange(0.0, motion.duration + 2 * DT, DT))
        assert (q >= lower - 1e-9).all() and (q <= upper + 1e-9).all()
        assert coupling.constraints.violation(q).max() < 1e-3
        both = np.hstack([q, coupling.drivetrain.to_actuators(q)])
        rates = np.diff(np.vstack([both[:1], both]), axis=0) / DT
        assert (np.abs(rates) <= speed).all()
        assert (np.abs(np.diff(rates, axis=0)) <= acceleration * DT).all()
        inside = (there >= lower).all() and (there <= upper).all()
        if inside and coupling.constraints.violation(there) <= 0.0:
            reached += bool(np.abs(q[-1] - there).max() < 1e-6)
        else:
            reached -= bool(np.abs(q[-1] - there).max() < 1e-6)
    assert reached > 10
