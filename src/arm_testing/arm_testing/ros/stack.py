# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A complete arm: the nodes of bringup as processes, and a client that monitors them."""

import contextlib
import dataclasses
import signal

from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState, TaskState
from arm_testing.ros.probe import Probe
from arm_testing.waiting import BOUND

NEAR = 0.01  # [rad] and [m]
_COMPILING = 240.0  # [s]; the first start compiles the kinematics


class Stack(Probe):
    """The nodes of bringup as running processes, and a client that monitors them."""

    QUEUE = 10  # messages of each topic

    def __init__(self, domain, logs, without=(), apart=(), parameters=None, **values):
        """Start the nodes.

        Args:
            domain: ROS domain.
            logs: Folder of the logs.
            without: Names of nodes that are not started.
            apart: Names of nodes that get a process of their own, to be restarted.
            parameters: Node name -> parameters that differ from the table's.
            values: Arguments of the table.
        """
        super().__init__("watcher", domain)
        self.values = default_values(**{"viewer": "none", "speed": "8"} | values)
        self.domain = domain
        self.group = ProcessGroup(self.values, logs)
        table = [
            dataclasses.replace(
                process,
                parameters={**process.parameters, **(parameters or {}).get(process.name, {})},
                composable=process.composable and process.name not in apart,
            )
            for process in processes()
            if process.name not in {"task_client", *without}
        ]
        for process in chosen(table, self.values):
            self.start(process)
        self.states, self.nut, self.hardware = None, None, None
        self.feedback, self.task_states, self.start_posture = [], [], {}
        self.node.create_subscription(JointState, "joint_states", self._on_joints, self.QUEUE)
        self.node.create_subscription(NutState, "nut_world/state", self._on_nut, self.QUEUE)
        self.node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_hardware, self.QUEUE
        )
        self.node.create_subscription(
            TaskState, "task_server/state", self.task_states.append, QoSProfile(depth=50)
        )
        # not through the client, which drops a goal's feedback once it has the result
        self.node.create_subscription(
            RunTask.Impl.FeedbackMessage,
            "run_task/_action/feedback",
            self._on_feedback,
            QoSProfile(depth=1000),
        )
        self.run_task = ActionClient(self.node, RunTask, "run_task")
        self.follow = ActionClient(
            self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        self.gripper = ActionClient(self.node, GripperCommand, "gripper_controller/gripper_cmd")

    def start(self, process, **parameters):
        """Start a process of the table, some parameters changed."""
        changed = {**process.parameters, **parameters}
        self.group.start(dataclasses.replace(process, parameters=changed))

    def start_again(self, name, **parameters):
        """Start a process of the table that is not running."""
        table = processes()
        self.start(next(process for process in table if process.name == name), **parameters)

    def trigger(self, name):
        """Call a service of the type Trigger."""
        client = self.node.create_client(Trigger, name)
        try:
            return self.request(client, Trigger.Request())
        finally:
            self.node.destroy_client(client)

    def wait_task(self, state, **fields):
        """Wait until the task server publishes a state; return it."""

        def last():
            latest = self.task_states[-1] if self.task_states else None
            if latest is None or latest.state != state:
                return None
            return latest if all(getattr(latest, k) == v for k, v in fields.items()) else None

        return self.wait_for(last, f"state {state} {fields}")

    @property
    def joints(self):
        """Joint positions by name; empty before the first message."""
        states = self.states
        return dict(zip(states.name, states.position, strict=True)) if states else {}

    def _on_joints(self, message):
        self.states = message

    def _on_nut(self, message):
        self.nut = message

    def _on_hardware(self, message):
        self.hardware = message

    def wait_for(self, condition, what, bound=BOUND):
        """Spin until a condition holds; on failure report ``what`` and the last log lines."""
        try:
            return self.until(condition, bound, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.logs()}") from None

    def wait_ready(self):
        """Wait until the arm is armed and the task server answers."""
        self.wait_for(
            lambda: self.hardware is not None and self.hardware.state == HardwareStatus.ARMED,
            "the hardware to be armed",
        )
        self.wait_for(lambda: self.joints, "joint_states")
        self.wait_for(lambda: self.nut is not None, "the nut")
        self.wait_for(self.run_task.server_is_ready, "the task server", _COMPILING)
        self.wait_for(self.follow.server_is_ready, "the trajectory server")
        self.wait_for(self.gripper.server_is_ready, "the gripper server")
        self.wait_known("arm_hardware", "task_server")
        self.start_posture = self.start_posture or dict(self.joints)

    def home(self):
        """Return arm, jaws and nut to their initial state."""
        if self.hardware.state == HardwareStatus.STOPPED:
            assert self.trigger("arm_hardware/reset").success
        self.wait_ready()
        self.wait_still()
        if any(abs(self.joints[name] - q) > NEAR for name, q in self.start_posture.items()):
            names = list(self.states.name)[:-2]
            goal = FollowJointTrajectory.Goal()
            goal.trajectory.joint_names = names
            point = JointTrajectoryPoint(positions=[self.start_posture[n] for n in names])
            point.time_from_start.sec = 4
            goal.trajectory.points = [point]
            assert self.result(self.send(self.follow, goal)).error_code == 0
            width = GripperCommand.Goal()
            width.command.position = sum(list(self.start_posture.values())[-2:])
            assert self.result(self.send(self.gripper, width)).reached_goal
        if not self.nut_is_home():
            self.restart("nut_world")
            # The last state of the former world may follow; a new world has not seen the arm.
            self.wait_for(lambda: self.nut_is_home() and seconds(self.nut.header.stamp), "the nut")
        self.feedback.clear()

    def nut_is_home(self):
        """Return True if the nut is where it begins."""
        nut = self.nut
        return nut is not None and (nut.state, nut.bolt) == (NutState.ON_BOLT, "upper_bolt")

    def freeze(self, name):
        """Stop a process of the table where it holds no lock of DDS's shared memory.

        Everybody who writes would wait for such a lock, the driver too.
        """
        for _ in range(20):
            self.group.signal(name, signal.SIGSTOP)
            moment = seconds(self.states.header.stamp) + 1.0
            with contextlib.suppress(AssertionError):
                self.until(lambda m=moment: seconds(self.states.header.stamp) > m, 0.5)
                return
            self.group.signal(name, signal.SIGCONT)
        raise AssertionError(f"{name} always held a lock; {self.logs()}")

    def restart(self, name, number=signal.SIGINT):
        """End a process of the table with a signal, and start it again."""
        self.group.signal(name, number)
        assert self.group.wait([name], BOUND)
        self.nut = None
        self.start_again(name)

    def wait_still(self):
        """Wait until driver and joint_states report that the arm is at rest.

        Messages that arrived while nobody spun the probe say where the arm was before.
        """
        self.catch_up()
        former = self.states

        def stands():
            status, states = self.hardware, self.states
            if states is former:
                return False
            new = seconds(states.header.stamp) >= seconds(status.header.stamp)
            paused = status.speed_scaling == 0.0
            ended = paused or status.state != HardwareStatus.MOVING
            return ended and new and not any(states.velocity)

        self.wait_for(stands, "the arm to stand")

    def send(self, client, goal):
        """Send a goal and wait for the response; return the goal handle."""
        future = client.send_goal_async(goal)
        self.wait_for(future.done, "the answer to a goal")
        return future.result()

    def _on_feedback(self, message):
        self.feedback.append(message.feedback)

    def result(self, handle, bound=240.0):
        """Wait for the result of an accepted goal."""
        assert handle.accepted
        future = handle.get_result_async()
        self.wait_for(future.done, "the result of a goal", bound)
        return future.result().result

    def begin(self, text, task="swing", **options):
        """Begin a task by its text and name; return the goal handle."""
        handle = self.send(self.run_task, RunTask.Goal(task=task, text=text, **options))
        assert handle.accepted
        return handle

    def run(self, **goal):
        """Run a task to its end; return the result."""
        return self.result(self.send(self.run_task, RunTask.Goal(**goal)))

    def logs(self):
        """Return the last log lines of all processes, for the message of a failing test."""
        names = self.group.pids()
        return "\n".join(f"{name}:\n{self.group.log_tail(name)}" for name in names)

    def end_processes(self):
        """End all processes; return name -> exit code."""
        self.group.stop()
        return self.group.ended()

    def close(self):
        """End everything."""
        self.group.stop()
        super().close()


def swing(speed):
    """Return the text of a task clear of the bolts, slow enough to be interrupted."""
    return f"""\
task: swing
steps:
  - move_joints: {{name: there, joints: {{waist: -0.4}}, speed: {speed}}}
  - open: {{width_mm: 20}}
  - move_joints: {{name: back, joints: {{waist: 0.0}}, speed: {speed}}}
"""


def seconds(stamp):
    """Return a stamp in seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec
