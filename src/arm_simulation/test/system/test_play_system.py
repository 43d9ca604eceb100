# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm play on a running driver and in a view, observed over DDS."""

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_package_prefix
from arm_common.suggestions import program
from arm_description.trajectories.files import read_trajectory
from arm_testing.ros.probe import Probe
from sensor_msgs.msg import JointState

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus

BOUND = 120.0  # s
PERIOD = 0.02  # [s] of the driver's control loop
MODEL = load_robot("nut_arm")
COUNT = 0.012  # rad, a servo count with rounding
OTHERS = ("kinematics", "task_server", "nut_world")


def start(folder, *arguments):
    program = Path(get_package_prefix("arm_tasks")) / "lib" / "arm_tasks" / "play"
    return subprocess.Popen(
        [program, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class Track:
    """Records every published joint state in the order of the model's joints."""

    def __init__(self, node):
        self.stamps, self.positions = [], []
        node.create_subscription(JointState, "joint_states", self._on_joints, 200)

    def _on_joints(self, message):
        values = dict(zip(message.name, message.position, strict=True))
        self.stamps.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
        self.positions.append([values[name] for name in MODEL.joint_names])

    def visits(self, point, first=0):
        """Return the index of the first state near a point from an index on, or None."""
        positions = np.reshape(self.positions[first:], (-1, MODEL.n))
        near = np.abs(positions - point).max(axis=1) < 0.05
        return first + int(near.argmax()) if near.any() else None

    def check_limits(self):
        q, t = np.array(self.positions), np.array(self.stamps)
        assert (q <= MODEL.upper + COUNT).all() and (q >= MODEL.lower - COUNT).all()
        late = np.diff(t) > 1e-6
        # A message is stamped when it leaves, up to a control period after its positions were set.
        between = np.diff(t)[late, None] + PERIOD
        moved = np.abs(np.diff(q, axis=0))[late] - COUNT
        assert (moved <= MODEL.velocity * 1.05 * between).all()


@pytest.fixture
def arm(start_arm):
    arm = start_arm(hardware="fake", speed="8", without=OTHERS)
    arm.track = Track(arm.node)
    arm.wait_for(
        lambda: arm.hardware is not None and arm.hardware.state == HardwareStatus.ARMED,
        "the hardware to be armed",
    )
    arm.wait_for(lambda: arm.joints, "joint_states")
    return arm


def finish(arm, process):
    arm.wait_for(lambda: process.poll() is not None, "the player", BOUND)
    return process.communicate()[0]


def test_play_forward_reversed_looped_and_interrupted(arm, tmp_path):
    points = read_trajectory("look_around", MODEL).positions
    there = start(tmp_path, "nut_arm", "look_around")
    output = finish(arm, there)
    assert there.returncode == 0, output
    assert output.startswith("Playing look_around on the arm: ") and output.endswith("Done.\n")
    place = 0
    for point in points:
        place = arm.track.visits(point, place)
        assert place is not None, point

    rows = tmp_path / "up.txt"
    rows.write_text("40 0 0 0\n40 -40 0 0\n")
    back = start(tmp_path, "nut_arm", str(rows), "--reverse")
    output = finish(arm, back)
    assert back.returncode == 0, output
    first = arm.track.visits(np.radians([40, -40, 0, 0]), place)
    assert first is not None and arm.track.visits(np.radians([40, 0, 0, 0]), first) is not None

    loop = start(tmp_path, "nut_arm", "wave", "--loop")
    seen = len(arm.track.positions)
    arm.wait_for(
        lambda: arm.track.visits(np.radians([0, 0, -50, 0]), seen) is not None, "the wave"
    )
    arm.wait_for(lambda: arm.hardware.state == HardwareStatus.MOVING, "the motion")
    loop.send_signal(signal.SIGINT)
    output = finish(arm, loop)
    assert loop.returncode == 130 and output.endswith("Stopped.\n"), output
    arm.wait_for(lambda: arm.hardware.state == HardwareStatus.ARMED, "the arm to hold")
    arm.track.check_limits()

    other = start(tmp_path, "puma560", "stir", "--patience=60")
    output = finish(arm, other)
    assert other.returncode == 1
    assert "is it the same robot?" in output and output.count("\n") == 1, output


def test_play_without_an_arm_explains_how_to_start_one(fresh_domain, tmp_path):
    player = start(tmp_path, "nut_arm", "wave", "--patience=1")
    output = player.communicate(timeout=BOUND)[0]
    assert player.returncode == 1
    assert (
        f"first run {program('arm_tasks', 'view')} nut_arm" in output and output.count("\n") == 1
    ), output


@pytest.mark.thorough
def test_play_opens_its_own_view(fresh_domain, tmp_path):
    probe = Probe(bound=BOUND)
    track = Track(probe.node)
    # Repeated, since the view may play some of it before this subscription is matched.
    words = ("nut_arm", "look_around", "--view", "--loop", "--viewer-port", "8178")
    player = start(tmp_path, *words)
    place = 0
    try:
        for point in read_trajectory("look_around", MODEL).positions:
            while (seen := track.visits(point, place)) is None:
                assert player.poll() is None, player.communicate()[0]
                count = len(track.stamps)
                probe.until(lambda count=count: len(track.stamps) > count, what=point)
            place = seen
        player.send_signal(signal.SIGINT)
        output = player.communicate(timeout=BOUND)[0]
    finally:
        player.kill()
        probe.close()
    assert player.returncode == 130, output
    assert "Playing look_around on the view: " in output and "Stopped." in output, output
