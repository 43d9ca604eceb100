# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Transforms at the time of a stamp."""

import math

import numpy as np
import pytest
from arm_common.ros.message_conversions import transform_message
from arm_common.ros.tf import TransformError, TransformTree
from arm_common.transforms import pose, shift_z, turn_z
from arm_kinematics.ros.transform_history import TooEarlyError, TransformHistory
from builtin_interfaces.msg import Time
from tf2_msgs.msg import TFMessage


class Tf:
    """A tree with its history, fed as from the topics."""

    def __init__(self) -> None:
        self.tree = TransformTree()
        self.history = TransformHistory(self.tree)

    def moving(self, child: str, T: np.ndarray, time: float, parent: str = "base") -> None:
        seconds, part = divmod(round(time * 1e9), 10**9)
        stamp = Time(sec=seconds, nanosec=part)
        self.tree.set(parent, child, T)
        message = TFMessage(transforms=[transform_message(parent, child, T, stamp)])
        self.history.add(message)


@pytest.fixture
def tf() -> Tf:
    """A table that turns by 1 rad/s and rises by 0.1 m/s from 10 s to 15 s, with a cup on it."""
    tf = Tf()
    for time in np.arange(10.0, 15.1, 0.5):
        tf.moving("table", turn_z(time) @ shift_z(0.1 * time), float(time))
    tf.tree.set("table", "cup", pose(p=(0.2, 0.0, 0.0)))
    return tf


@pytest.mark.parametrize("time", [10.0, 10.2, 12.5, 14.99, 15.0])
def test_moving_frame_is_where_it_was_at_the_time(tf, time):
    expected = turn_z(time) @ shift_z(0.1 * time) @ pose(p=(0.2, 0.0, 0.0))
    assert np.allclose(tf.history.lookup("base", "cup", time), expected, atol=1e-9)
    assert np.allclose(tf.history.lookup("cup", "base", time) @ expected, np.eye(4), atol=1e-9)


def test_static_transforms_hold_at_any_time(tf):
    for time in (-100.0, 1e6):
        assert np.allclose(tf.history.lookup("table", "cup", time), pose(p=(0.2, 0.0, 0.0)))


def test_time_before_the_buffer_is_refused(tf):
    with pytest.raises(TransformError, match=r"is 9\.900 s, but 'table' .* 10\.000 s to 15"):
        tf.history.lookup("base", "cup", 9.9)


def test_time_after_the_newest_transform_says_what_is_missing(tf):
    with pytest.raises(TooEarlyError) as error:
        tf.history.lookup("base", "cup", 15.25)
    assert error.value.missing == pytest.approx(0.25)


def test_ten_seconds_are_kept(tf):
    tf.moving("table", turn_z(21.0), 21.0)
    with pytest.raises(TransformError, match=r"from 11\.000 s"):
        tf.history.lookup("base", "table", 10.9)


def test_transform_received_late_takes_its_place(tf):
    tf.moving("table", turn_z(0.0), 12.25)
    assert np.allclose(tf.history.lookup("base", "table", 12.25), turn_z(0.0))
    tf.moving("table", turn_z(1.0), 12.25)  # the last one of a stamp counts
    assert np.allclose(tf.history.lookup("base", "table", 12.25), turn_z(1.0))


def test_clock_that_begins_anew_begins_a_new_buffer(tf):
    tf.moving("table", turn_z(0.5), 0.5)
    assert np.allclose(tf.history.lookup("base", "table", 0.5), turn_z(0.5))
    with pytest.raises(TooEarlyError):
        tf.history.lookup("base", "table", 12.0)


def test_turn_takes_the_shorter_way(tf):
    tf.moving("wheel", turn_z(math.radians(170.0)), 10.0)
    tf.moving("wheel", turn_z(math.radians(-170.0)), 11.0)
    half = tf.history.lookup("base", "wheel", 10.5)
    assert np.allclose(half, turn_z(math.pi), atol=1e-9)
