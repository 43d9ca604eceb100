# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The handle for RViz over real topics: the tool follows through IK, or stays."""

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix, pose_message
from arm_viewer.port import IK_MODES
from arm_viewer.ros.tool_handle_node import (
    FIRST_MODE,
    FIRST_SOLUTION,
    LIST_SOLUTIONS,
    handle_marker,
)

pytestmark = pytest.mark.system

BOUND = 90.0  # s


class Rviz:
    """RViz's part of the protocol, and sliders that follow joint_targets."""

    def __init__(self, ros, model):
        from sensor_msgs.msg import JointState
        from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate
        from visualization_msgs.srv import GetInteractiveMarkers

        self.ros, self.model, self.q = ros, model, dict.fromkeys(model.joint_names, 0.0)
        self.Feedback, self.marker, self.numbers = InteractiveMarkerFeedback, None, []
        node = ros.node
        node.create_subscription(InteractiveMarkerUpdate, "tool_handle/update", self.update, 100)
        self.feedback = node.create_publisher(InteractiveMarkerFeedback, "tool_handle/feedback", 9)
        name, self.Get = "tool_handle/get_interactive_markers", GetInteractiveMarkers
        self.get = node.create_client(GetInteractiveMarkers, name)
        node.create_subscription(JointState, "joint_targets", self.follow, 10)
        fingers = dict.fromkeys(model.gripper.joints, 0.0)
        node.create_timer(0.05, lambda: ros.show_joints(self.q | fingers))

    def ask(self):
        future = self.get.call_async(self.Get.Request())
        self.ros.until(future.done, BOUND)
        for self.marker in future.result().markers:
            pass
        return future.result()

    def update(self, message):
        self.numbers.append(message.seq_num)
        for self.marker in message.markers:
            pass
        for moved in message.poses if self.marker else ():
            self.marker.pose = moved.pose

    def follow(self, message):
        self.q |= dict(zip(message.name, message.position, strict=True))

    def tip(self):
        return self.model.fk([self.q[name] for name in self.model.joint_names])

    def send(self, event, T=None, entry=0):
        message = self.Feedback(event_type=event, menu_entry_id=entry, marker_name="tool")
        message.header.frame_id = "base_link"
        if T is not None:
            message.pose = pose_message(T)
        self.feedback.publish(message)

    def place(self):
        return pose_matrix(self.marker.pose)

    def at_the_tool(self):
        return self.marker is not None and np.abs(self.place() - self.tip()).max() < 1e-3


def kinds_of(marker):
    """Return the interaction modes of a marker's controls."""
    return [control.interaction_mode for control in marker.controls]


def text_of(marker):
    return "".join(letters.text for c in marker.controls for letters in c.markers)


@pytest.fixture(scope="module")
def rviz(ros, model, start):
    start("kinematics")
    start("handle")
    start("publisher", robot_description=model.to_urdf())
    rviz = Rviz(ros, model)
    ros.until(rviz.get.service_is_ready, BOUND)
    ros.until(lambda: rviz.ask().markers, BOUND)
    ros.until(rviz.at_the_tool, BOUND)
    ros.until(lambda: ros.node.count_subscribers("tool_handle/feedback"), BOUND)
    return rviz


def moved(T, z):
    T = T.copy()
    T[2, 3] += z
    return T


def drag(rviz, T):
    rviz.send(rviz.Feedback.MOUSE_DOWN)
    rviz.send(rviz.Feedback.POSE_UPDATE, T)
    # To be repeated: the kinematics node may still be loading.
    return lambda: rviz.send(rviz.Feedback.POSE_UPDATE, T)


def test_dragging_moves_the_tool_and_the_handle_stays_with_it(rviz):
    goal = moved(rviz.tip(), -0.03)
    again = drag(rviz, goal)
    rviz.ros.until(
        lambda: again() or np.linalg.norm(rviz.tip()[:3, 3] - goal[:3, 3]) < 1e-4, BOUND
    )
    rviz.send(rviz.Feedback.MOUSE_UP)
    rviz.ros.until(rviz.at_the_tool, BOUND)
    assert rviz.numbers == sorted(set(rviz.numbers))


def test_unreachable_target_is_reported_and_the_arm_stays(rviz):
    before = rviz.tip()
    drag(rviz, moved(before, 5.0))
    rviz.send(rviz.Feedback.MOUSE_UP)
    rviz.ros.until(lambda: "reach" in text_of(rviz.marker), BOUND)
    np.testing.assert_allclose(rviz.tip(), before)
    rviz.ros.until(rviz.at_the_tool, BOUND)


def test_mode_and_solution_are_selected_in_the_menu(rviz):
    rviz.send(rviz.Feedback.MENU_SELECT, entry=FIRST_MODE + IK_MODES.index("Position"))
    before = rviz.tip()[:3, 3]
    rviz.send(rviz.Feedback.MENU_SELECT, entry=LIST_SOLUTIONS)
    ids = lambda: [e.id for e in rviz.marker.menu_entries if e.id >= FIRST_SOLUTION]  # noqa: E731
    rviz.ros.until(lambda: ids(), BOUND)
    q = dict(rviz.q)
    rviz.send(rviz.Feedback.MENU_SELECT, entry=ids()[-1])
    rviz.ros.until(lambda: rviz.q != q or len(ids()) == 1, BOUND)
    np.testing.assert_allclose(rviz.tip()[:3, 3], before, atol=1e-4)


def test_late_client_gets_the_marker_and_its_sequence_number(rviz):
    response = rviz.ask()
    assert [marker.name for marker in response.markers] == ["tool"]
    assert response.sequence_number >= rviz.numbers[-1] - 1


def test_handle_refuses_and_hides_while_a_task_runs(rviz):
    from arm_common.ros.qos import LATCHED
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionServer
    from trajectory_msgs.msg import JointTrajectory

    from arm_interfaces.msg import TaskState

    node, commands = rviz.ros.node, []
    name, action = "arm_controller/joint_trajectory", "arm_controller/follow_joint_trajectory"
    driver = node.create_subscription(JointTrajectory, name, commands.append, 10)
    server = ActionServer(node, FollowJointTrajectory, action, lambda handle: handle.abort())
    task = node.create_publisher(TaskState, "task_server/state", LATCHED)
    rviz.ros.until(lambda: node.count_publishers(name), BOUND)
    rviz.send(rviz.Feedback.MOUSE_DOWN)
    task.publish(TaskState(state=TaskState.PAUSED))
    rviz.ros.until(lambda: "A task is running" in text_of(rviz.marker), BOUND)
    assert kinds_of(rviz.marker) == [0]  # a marker without any control ends RViz's subscription
    # the rest of a drag, and a solution of the menu that is still open
    rviz.send(rviz.Feedback.POSE_UPDATE, moved(rviz.tip(), -0.02))
    rviz.send(rviz.Feedback.MENU_SELECT, entry=FIRST_SOLUTION)
    task.publish(TaskState(state=TaskState.IDLE))
    rviz.ros.until(lambda: kinds_of(rviz.marker) != [0], BOUND)
    assert not commands
    drag(rviz, moved(rviz.tip(), -0.02))
    rviz.ros.until(lambda: commands, BOUND)
    rviz.send(rviz.Feedback.MOUSE_UP)
    server.destroy()
    node.destroy_subscription(driver)
    node.destroy_publisher(task)


def test_handle_returns_when_the_task_server_dies_in_mid_task(rviz):
    from arm_common.ros.qos import LATCHED

    from arm_interfaces.msg import TaskState

    task = rviz.ros.node.create_publisher(TaskState, "task_server/state", LATCHED)
    task.publish(TaskState(state=TaskState.RUNNING))
    rviz.ros.until(lambda: kinds_of(rviz.marker) == [0], BOUND)
    rviz.ros.node.destroy_publisher(task)
    rviz.ros.until(lambda: kinds_of(rviz.marker) != [0], BOUND)


def test_mode_without_orientation_has_no_rings():
    for mode, turns in (("Position", 0), ("Pose", 3)):
        marker = handle_marker("base_link", 0.1, mode, (), "")
        kinds = kinds_of(marker)
        assert kinds.count(5) == turns  # ROTATE_AXIS
        assert kinds.count(3) == 3  # MOVE_AXIS
        titles = [e.title for e in marker.menu_entries]
        assert f"[x] {mode}" in titles
