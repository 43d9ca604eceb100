# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shared helpers: a small robot, markers without ROS, a publishing node, processes."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

PATIENCE = 240.0  # s, a bound, not a wait; a browser without a graphics card may be slow
URDF = Path(__file__).with_name("desk_arm.urdf")


def _xyz(values=(0.0, 0.0, 0.0)):
    x, y, z = (float(value) for value in values)
    return SimpleNamespace(x=x, y=y, z=z)


def _rgba(values):
    r, g, b, a = (*values, 1.0)[:4]
    return SimpleNamespace(r=r, g=g, b=b, a=a)


def make_marker(type=1, id=0, **fields):
    """Return an object with the fields of visualization_msgs/Marker; fields by plain values."""
    qx, qy, qz, qw = fields.get("orientation", (0.0, 0.0, 0.0, 1.0))
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=fields.get("frame", "base_link")),
        ns=fields.get("ns", "test"),
        id=id,
        type=type,
        action=fields.get("action", 0),
        pose=SimpleNamespace(
            position=_xyz(fields.get("position", (0, 0, 0))),
            orientation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw),
        ),
        scale=_xyz(fields.get("scale", (0.1, 0.1, 0.1))),
        color=_rgba(fields.get("color", (1.0, 0.0, 0.0, 1.0))),
        lifetime=SimpleNamespace(sec=fields.get("lifetime", 0), nanosec=0),
        frame_locked=fields.get("frame_locked", False),
        points=[_xyz(point) for point in fields.get("points", ())],
        colors=[_rgba(colour) for colour in fields.get("colors", ())],
        text=fields.get("text", ""),
        mesh_resource=fields.get("mesh_resource", ""),
        mesh_use_embedded_materials=False,
    )


@pytest.fixture(scope="session")
def marker():
    """A function that makes markers."""
    return make_marker


@pytest.fixture(scope="session")
def urdf():
    """The text of a small robot with every primitive shape."""
    return URDF.read_text()


class RosNode:
    """A node that publishes what the viewer shows, in a context of its own."""

    def __init__(self, domain):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String
        from tf2_msgs.msg import TFMessage
        from visualization_msgs.msg import MarkerArray

        from arm_interfaces.msg import NutState

        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("test", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.robot = self.node.create_publisher(String, "robot_description", latched)
        self.task = self.node.create_publisher(String, "task_text", latched)
        self.markers = self.node.create_publisher(MarkerArray, "scene_markers", latched)
        self.frames = self.node.create_publisher(TFMessage, "tf_static", latched)
        self.nut = self.node.create_publisher(NutState, "nut_world/state", latched)
        self.joints = self.node.create_publisher(JointState, "joint_states", 10)
        self.joint_states = []
        self.node.create_subscription(JointState, "joint_states", self.joint_states.append, 10)

    def show_robot(self, urdf):
        self.robot.publish(self._type(self.robot)(data=urdf))

    def show_task(self, text):
        self.task.publish(self._type(self.task)(data=text))

    def show_nut(self, **fields):
        self.nut.publish(self._type(self.nut)(**fields))

    def show_joints(self, values):
        message = self._type(self.joints)(name=list(values), position=list(values.values()))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.joints.publish(message)

    def show_frames(self, poses):
        """Publish poses in base_link as tf: name -> (4, 4)."""
        from arm_common.transforms import matrix_to_pose
        from geometry_msgs.msg import TransformStamped

        message = self._type(self.frames)()
        for name, pose in poses.items():
            if name == "base_link":
                continue
            stamped = TransformStamped(child_frame_id=name)
            stamped.header.frame_id = "base_link"
            t, r = stamped.transform.translation, stamped.transform.rotation
            (t.x, t.y, t.z), (r.x, r.y, r.z, r.w) = matrix_to_pose(pose)
            message.transforms.append(stamped)
        self.frames.publish(message)

    def show_marker(self, position=(0.0, 0.0, 0.0), scale=(0.1, 0.1, 0.1), color=(), **fields):
        from visualization_msgs.msg import Marker

        message = Marker(ns="test", **fields)
        message.header.frame_id = "base_link"
        p, s, c = message.pose.position, message.scale, message.color
        (p.x, p.y, p.z), (s.x, s.y, s.z) = map(float, position), map(float, scale)
        c.r, c.g, c.b, c.a = (*color, 1.0) if color else (1.0, 1.0, 1.0, 1.0)
        self.markers.publish(self._type(self.markers)(markers=[message]))

    def until(self, condition, bound=PATIENCE):
        """Spin until the condition gives something true, and return that."""
        end = time.monotonic() + bound
        while time.monotonic() < end:
            if result := condition():
                return result
            self.executor.spin_once(timeout_sec=0.05)
        raise AssertionError("it did not come true in time")

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    @staticmethod
    def _type(publisher):
        return publisher.msg_type


@pytest.fixture(scope="session")
def ros_node():
    """A context manager that gives a publishing node in a ROS domain."""

    @contextmanager
    def node(domain):
        node = RosNode(domain)
        try:
            yield node
        finally:
            node.close()

    return node


@pytest.fixture(scope="module")
def start_process(tmp_path_factory):
    """A function that runs a Python line as a process in a domain; all end with the module."""
    running = []

    def start(domain, line, *arguments):
        log = tmp_path_factory.mktemp("process") / "log.txt"
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", line, *arguments],
                env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
                stdout=output,
                stderr=output,
            )
        running.append(process)
        return process, log

    yield start
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def start_viewer(start_process):
    """A function that starts a viewer in a domain and returns its address."""

    def start(domain, *parameters):
        words = [word for parameter in parameters for word in ("-p", parameter)]
        line = "from arm_viewer.ros.node import main; main()"
        process, log = start_process(domain, line, "--ros-args", *words)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if found := re.search(r"Browser view: (http://[\d.]+:\d+)$", log.read_text(), re.M):
                return found[1]
            time.sleep(0.02)
        raise AssertionError(f"the viewer logged no address:\n{log.read_text()}")

    return start


@pytest.fixture(scope="module")
def browser_page():
    """The page of a headless Chromium; a missing Chromium fails every test that needs it.

    Closed after the module: a view is drawn on and on, which takes a core, and Playwright runs an
    event loop in this thread, beside which no other can run.
    """
    from arm_viewer.screenshot import open_page

    with open_page((800 + 324, 520)) as page:  # the scene, and the panel beside it
        page.set_default_timeout(1e3 * PATIENCE)
        yield page
