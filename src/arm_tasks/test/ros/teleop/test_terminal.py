# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging: keys and joystick become commands, and every message keeps the limits."""

import dataclasses
import math
from unittest.mock import Mock

import numpy as np
import pytest
import rclpy
from arm_description.model.constraints import SLACK
from arm_tasks.commands.teleop import follow
from arm_tasks.errors import TasksError
from arm_tasks.manual.jogger import (
    ACCELERATION_SCALE,
    HORIZON,
    JAWS,
    KEY_TIMEOUT,
    LINEAR,
    MAX_DIRECTIONS,
    MODES,
    PAIRS,
    PERIOD,
    SPEEDS,
    JogCommand,
    Jogger,
    JoystickLayout,
    JoystickState,
    KeyboardInput,
)
from arm_tasks.ros.teleop.follower import FollowerNode
from arm_tasks.ros.teleop.terminal import TeleopTerminal
from arm_testing.repository import repository
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot
from arm_kinematics import Chain

ROBOTS = ("nut_arm", "puma560", "spherical_arm")
CHAINS = {name: Chain.from_model(load_robot(name)) for name in ROBOTS}


def direction(index, size=1.0):
    return tuple(size if i == index else 0.0 for i in range(MAX_DIRECTIONS))


COMMANDS = st.builds(
    JogCommand,
    st.sampled_from(MODES),
    st.one_of(
        st.just((0.0,) * MAX_DIRECTIONS),
        st.builds(direction, st.integers(0, MAX_DIRECTIONS - 1), st.sampled_from([1.0, -1.0])),
        st.tuples(*[st.floats(-1.0, 1.0)] * MAX_DIRECTIONS),
    ),
    st.sampled_from(SPEEDS),
)


def started(name, share=0.5):
    chain = CHAINS[name]
    jogger = Jogger(chain)
    low, high = np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0)
    jogger.start(low + share * (high - low))
    return chain, jogger


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(ROBOTS), st.floats(0.0, 1.0), st.lists(COMMANDS, max_size=40))
def test_every_segment_ends_at_rest_inside_the_limits(name, share, commands):
    chain, jogger = started(name, share)
    for command in commands:
        before = jogger.rates
        segment = jogger.step(command)
        if segment is None:
            assert not jogger.moving
            continue
        assert not np.any(segment.velocities[-1])
        slack = SLACK + 1e-12  # the jogger's own, and rounding errors
        assert (segment.positions >= chain.lower - slack).all()
        assert (segment.positions <= chain.upper + slack).all()
        assert (np.abs(segment.velocities) <= chain.velocity * (1 + 1e-9)).all()
        ends = segment.times[-1] - (segment.times[-2] if len(segment.times) > 1 else 0.0)
        slowing = segment.velocities[-2] if len(segment.times) > 1 else before
        most = ACCELERATION_SCALE * chain.acceleration * (1 + 1e-9)
        assert (np.abs(slowing) / ends <= most).all()


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_joint_stops_at_its_limit(index, sign):
    chain, jogger = started("nut_arm")
    limit = (chain.upper if sign > 0.0 else chain.lower)[index]
    for _ in range(100):
        jogger.step(JogCommand("joint", direction(index, sign), 0.8))
    assert abs(jogger.q[index] - limit) < 0.01
    others = np.delete(jogger.q, index)
    np.testing.assert_allclose(others, np.delete(started("nut_arm")[1].q, index), atol=1e-12)


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("mode", ["base", "tool"])
def test_tool_moves_along_its_axis_without_rotation(mode, index):
    chain, jogger = started("puma560")
    rng = np.random.default_rng(7)
    while np.linalg.cond(chain.jacobian(jogger.q)) > 10.0:  # far from singular postures
        jogger.start(rng.uniform(-1.5, 1.5, chain.n))
    start = chain.fk(jogger.q)
    for _ in range(20):
        jogger.step(JogCommand(mode, direction(index), 0.2))
    moved = chain.fk(jogger.q)
    axis = np.eye(3)[index] if mode == "base" else start[:3, index]
    line = moved[:3, 3] - start[:3, 3]
    length = np.linalg.norm(line)
    assert length > 0.3 * 20 * PERIOD * 0.2 * LINEAR
    assert np.linalg.norm(line - length * axis) < 0.005 * length
    assert np.linalg.norm(moved[:3, :3] - start[:3, :3]) < 0.002


def test_slow_jogging_moves_despite_servo_resolution():
    """From joint_states, a step smaller than a count of the board would be lost."""
    _, jogger = started("nut_arm")
    before = jogger.q[0]
    for _ in range(100):
        jogger.step(JogCommand("joint", direction(0), 0.05))
    assert jogger.q[0] - before > 0.8 * 100 * PERIOD * 0.05 * CHAINS["nut_arm"].velocity[0]


def test_releasing_the_key_brakes_once():
    _, jogger = started("nut_arm")
    assert jogger.step(JogCommand("joint")) is None
    for _ in range(5):
        moving = jogger.step(JogCommand("joint", direction(1), 0.4))
    assert len(moving.times) == 2 and moving.times[0] == HORIZON
    last = jogger.step(JogCommand("joint"))
    assert len(last.times) == 1 and not jogger.moving
    assert jogger.step(JogCommand("joint")) is None


def test_deviation_from_the_command_is_detected():
    _, jogger = started("nut_arm")
    q = jogger.q.copy()
    assert not jogger.deviates(q)
    for _ in range(60):
        jogger.step(JogCommand("joint", direction(1), 0.4))
    assert jogger.deviates(q) and not jogger.deviates(jogger.q)
    jogger.forget()
    assert not jogger.deviates(q) and jogger.step(JogCommand("joint", direction(1), 0.4)) is None


def test_joints_that_limit_the_speed_are_named():
    chain, jogger = started("nut_arm", 1.0)
    jogger.step(JogCommand("joint", direction(2), 0.4))
    assert jogger.slowed_by == (chain.joint_names[2],)


def test_key_expires_without_repeats():
    keys = KeyboardInput()
    assert keys.press("w", 0.0)
    assert keys.command(0.9 * KEY_TIMEOUT).direction == direction(0)
    assert keys.command(KEY_TIMEOUT).is_zero
    keys.press("w", 1.0)
    keys.press("w", 1.0 + 0.5 * KEY_TIMEOUT)
    assert not keys.command(1.0 + 1.4 * KEY_TIMEOUT).is_zero
    assert keys.command(1.0 + 1.5 * KEY_TIMEOUT).is_zero


@pytest.mark.parametrize("other", ["m", "+", "-", " ", "x", "q", "up", "\x1bw", *JAWS])
def test_any_other_key_ends_the_motion(other):
    keys = KeyboardInput()
    keys.press("a", 0.0)
    keys.press(other, 0.01)
    assert keys.command(0.02).is_zero


def test_each_pair_of_keys_moves_in_both_directions():
    keys = KeyboardInput()
    for index, (more, less) in enumerate(PAIRS):
        for key, size in ((more, 1.0), (less, -1.0)):
            keys.press(key, 0.0)
            assert keys.command(0.0).direction == direction(index, size)


def test_speeds_and_modes_stay_in_their_ranges():
    keys = KeyboardInput()
    for key, end in (("-", 0), ("+", -1)):
        for _ in range(9):
            keys.press(key, 0.0)
        assert keys.command(0.0).speed == SPEEDS[end]
    seen = []
    for _ in range(3):
        seen.append(keys.command(0.0).mode)
        keys.press("m", 0.0)
    assert tuple(seen) == MODES and keys.command(0.0).mode == MODES[0]


def press(robot, keys):
    """Press keys in a robot's terminal; return the jaw commands and the help text."""
    jaws, screen = Mock(**{"grip.return_value": ""}), Mock()
    terminal = TeleopTerminal(jaws, screen, load_robot(robot))
    for key in (*keys, "?"):
        terminal.press(key)
    steps, printed = jaws.grip.call_args_list, screen.print.call_args_list
    return [step.args[0] for step in steps], "".join(text.args[0] for text in printed)


def test_keys_open_and_close_the_jaws_at_the_current_speed():
    steps, help_text = press("nut_arm", (*JAWS, "+", JAWS[1]))
    assert steps == [0.1, -0.1, -0.2]
    assert f"{JAWS[0]} {JAWS[1]}    jaws: open, close" in help_text
    assert len(help_text.splitlines()) < 22  # fits on one screen


def test_no_gripper_keys_without_a_gripper():
    steps, help_text = press("puma560", JAWS)
    assert not steps and "jaws" not in help_text


STICKS = st.lists(st.floats(-2.0, 2.0) | st.sampled_from([math.nan, math.inf]), max_size=10)
BUTTONS = st.lists(st.integers(0, 1), max_size=12)


@given(STICKS, BUTTONS)
def test_joystick_needs_the_dead_mans_button(sticks, buttons):
    layout = JoystickLayout()
    command = layout.command(sticks, buttons, 0.1)
    held = len(buttons) > layout.dead_man and buttons[layout.dead_man]
    assert command.is_zero or held
    assert all(-1.0 <= value <= 1.0 for value in command.direction)


def test_joystick_layout_maps_sticks_and_buttons():
    layout = JoystickLayout()
    sticks, held = [0.0] * 8, [0, 0, 0, 0, 1, 0]
    sticks[1] = 1.0
    assert layout.command(sticks, held, 0.2) == JogCommand("tool", direction(0), 0.2)
    sticks[1] = 0.09
    assert layout.command(sticks, held, 0.2).is_zero
    sticks[1] = -0.55
    half = layout.command(sticks, [0, 0, 0, 0, 1, 1], 0.2)
    assert half.mode == "joint" and half.direction == pytest.approx(direction(0, -0.5))
    assert layout.command(sticks, [1, 0, 0, 0, 1], 0.2).mode == "base"
    for wrong in (math.inf, -math.inf, math.nan):
        sticks[1] = wrong
        assert layout.command(sticks, held, 0.2).is_zero
    sticks[1] = 0.4
    assert JoystickLayout(dead_zone=0.4).command(sticks, held, 0.2).is_zero
    sticks[1] = 0.7
    half = JoystickLayout(dead_zone=0.4).command(sticks, held, 0.2)
    assert half.direction == pytest.approx(direction(0, 0.5))
    turned = JoystickLayout(dead_man=0, axes=(-1, 1), signs=(1, -1))
    assert turned.command([0.0, 1.0], [1], 0.1).direction == direction(1, -1.0)


def test_joystick_that_repeats_one_message_does_not_count_until_another_comes():
    usual, limited = JoystickState(), JoystickState(0.5)
    assert usual.at(0.0) is None
    for i in range(10):
        for joystick in (usual, limited):
            joystick.receive([0.7], [1], 0.1 * i)
        assert usual.at(0.1 * i) == ((0.7,), (1,))
        assert (limited.at(0.1 * i) is None) == (i > 5), i
    limited.receive([0.71], [1], 1.0)
    assert limited.at(1.0) == ((0.71,), (1,))
    assert limited.at(1.01 + KEY_TIMEOUT) is None and usual.at(1.01 + KEY_TIMEOUT) is None


def test_keys_arm_hold_and_stop_and_a_long_problem_is_printed_once_and_wrapped():
    node, screen = Mock(**{"trigger.return_value": "", "grip.return_value": ""}), Mock()
    terminal = TeleopTerminal(node, screen, load_robot("nut_arm"))
    for key in ("e", "E", "z", " ", "\x1b "):
        terminal.press(key)
    called = [call.args[0] for call in node.trigger.call_args_list]
    assert called == ["arm", "disarm", "reset", "stop", "stop"]
    node.update.return_value = fault = (
        "the servo driver is not armed: " + "servo 3 is silent; " * 9
    )
    node.joystick_command.return_value = None
    node.status.return_value = "joints"
    screen.reset_mock()
    shown = [terminal._update(0.0) for _ in range(3)]
    (printed,) = (call.args[0] for call in screen.print.call_args_list)
    assert printed.split() == fault.split() and max(map(len, printed.splitlines())) < 100
    assert all(len(text) < 100 and text.endswith("joints") for text in shown)


def test_page_lists_every_key_and_parameter():
    text = (repository() / "docs/reference/teleop.md").read_text()
    assert " ".join(f"`{more} {less}`" for more, less in PAIRS) in text
    assert f"| `{' '.join(JAWS)}` |" in text
    assert f"{', '.join(f'{speed * 100:g}' for speed in SPEEDS)} %" in text
    for field in dataclasses.fields(JoystickLayout):
        default = field.default
        shown = ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
        assert f"| `{field.name}` | {shown}" in text, field.name


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("path.mp4", "a trajectory cannot end in '.mp4'"),
        ("nowhere/path.csv", "its folder does not exist"),
        ("old.csv", "already exists; choose another name or give --force"),
    ],
)
def test_recording_is_refused_before_anything_moves(tmp_path, capsys, file, reason):
    (tmp_path / "old.csv").touch()
    assert follow(["nut_arm", "--record", str(tmp_path / file)]) == 1
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1


def test_arm_does_not_follow_itself():
    rclpy.init()
    try:
        with pytest.raises(TasksError, match="/joint_states is the arm's own topic"):
            FollowerNode(load_robot("nut_arm"), "/joint_states")
    finally:
        rclpy.shutdown()


def test_jogging_starts_at_the_measured_position():
    """After its own motion a jogger waits until joint_states are up to date."""
    _chain, jogger = started("nut_arm")
    still = JogCommand("joint")
    for _ in range(3):
        jogger.step(still)
        assert jogger.settled
    elsewhere = jogger.q + 0.1
    jogger.start(elsewhere)
    segment = jogger.step(JogCommand("joint", direction(0), 0.1))
    assert not jogger.settled and np.allclose(segment.positions[0][1:], elsewhere[1:])
    jogger.step(still)
    assert not jogger.settled  # joint_states lag behind
    for _ in range(20):
        jogger.step(still)
    assert jogger.settled
