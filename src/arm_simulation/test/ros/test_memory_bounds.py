# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Messages with new, long names leave nothing in the nodes: their memory has a bound.

docs/security.md, "Bounds", states it.
"""

from pathlib import Path

import pytest
from arm_common.ros.qos import LATCHED, TF
from arm_testing.programs.processes import parameters, read_output, start_python
from arm_testing.ros.probe import Probe
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState

LONG = "x" * 100_000
FIRST, ROUNDS = 100, 400  # messages of each topic: the first fill queues
FIRST_OF_DRIVER = 400  # fill its pools, too: it is flat from then on
GROWTH = 20.0  # [MB]; what each round names would be 40 MB and more
# module, arguments, bound of its memory [MB]
thorough = pytest.mark.thorough
PROGRAMS = (
    ("arm_tasks.ros.arm_nodes", ["kinematics", "nut_world", "task_server"], 400.0),
    ("arm_hardware.ros.process", parameters(hardware="fake", autostart="activate"), 120.0),
    pytest.param("arm_viewer.ros.tool_handle_node", [], 120.0, marks=thorough),
    pytest.param("arm_viewer.ros.node", parameters(port=0, drive=True), 200.0, marks=thorough),
)
RUN = "import sys; from {} import main; sys.exit(main())"


def megabytes(process):
    """Return the proportional set size of a process [MB]."""
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


class Flood:
    """Publishes messages with names that are new in each."""

    def __init__(self):
        self.probe, self.round = Probe("flood"), 0
        create = self.probe.node.create_publisher
        self.publishers = {
            self._joints: create(JointState, "joint_states", 10),
            self._trajectory: create(JointTrajectory, "arm_controller/joint_trajectory", 10),
            self._frames: create(TFMessage, "/tf", TF),
            self._nut: create(NutState, "nut_world/state", 10),
            self._markers: create(MarkerArray, "scene_markers", LATCHED),
            self._diagnostics: create(DiagnosticArray, "/diagnostics", 10),
            self._text: create(String, "task_text", LATCHED),
            self._urdf: create(String, "robot_description", LATCHED),
        }

    def _joints(self, name):
        return JointState(name=[name], position=[0.0])

    def _trajectory(self, name):
        return JointTrajectory(joint_names=[name], points=[JointTrajectoryPoint(positions=[0.0])])

    def _frames(self, name):
        return TFMessage(transforms=[TransformStamped(child_frame_id=name)])

    def _nut(self, name):
        return NutState(message=name, bolt=name)

    def _markers(self, name):
        return MarkerArray(markers=[Marker(ns="flood", id=self.round % 10, type=9, text=name)])

    def _diagnostics(self, name):
        return DiagnosticArray(status=[DiagnosticStatus(name=name, message=name)])

    def _text(self, name):
        return String(data=name)

    def _urdf(self, name):
        return String(data=f'<robot name="r"><link name="{name}"/></robot>')

    def run(self, rounds):
        for _ in range(rounds):
            self.round += 1
            for message, publisher in self.publishers.items():
                publisher.publish(message(f"{LONG}{self.round}"))
            self.probe.executor.spin_once(timeout_sec=0.02)


@pytest.mark.parametrize(("module", "arguments", "bound"), PROGRAMS)
def test_names_in_messages_leave_nothing_in_a_node(module, arguments, bound):
    process = start_python("-c", RUN.format(module), *arguments)
    output = read_output(process)  # a node that cannot log handles nothing: its queues fill
    flood = Flood()
    try:
        publisher = flood.publishers[flood._joints]
        if module == "arm_hardware.ros.process":
            publisher = flood.publishers[flood._trajectory]
        flood.probe.until(publisher.get_subscription_count)
        flood.run(FIRST_OF_DRIVER if module == "arm_hardware.ros.process" else FIRST)
        before = megabytes(process)
        flood.run(ROUNDS)
        after = megabytes(process)
        assert after - before < GROWTH and after < bound, (before, after)
    finally:
        process.kill()
        output()
        flood.probe.close()
