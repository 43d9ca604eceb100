# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A client of run_task that watches joints and nut, and prints each step as it comes.

Keys of a terminal to the services beside run_task: pause, go on, one step.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import rclpy
from arm_common.ros.qos import GOAL, LATCHED
from arm_common.signals import deferred
from arm_common.terminal import Keyboard
from arm_common.transforms import Array
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_description import RobotModel
from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState, TaskState
from arm_tasks.errors import TasksError
from arm_tasks.ros.driver_client import READY_STATES
from arm_tasks.ros.messages import transform_matrix

HELP = "Keys: space pauses and goes on, s does one step, Ctrl-C cancels."


class RunControlKeys:
    """Reads single keys, where there is a terminal.

    Args:
        node: Of the clients.
        say: Shows a line.

    Attributes:
        state: Of the task, as last told; a constant of TaskState.
    """

    def __init__(self, node: Node, say: Callable[[str], None]) -> None:
        self.state = TaskState.CHECKING
        self._say = say
        self._keyboard: Keyboard | None = None
        self._clients = {
            name: node.create_client(Trigger, f"run_task/{name}", qos_profile=GOAL)
            for name in ("pause", "resume", "step")
        }

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read keys from here on to the end, if standard input is a terminal."""
        if not sys.stdin.isatty():
            yield
            return
        with Keyboard() as self._keyboard:
            self._say(HELP)
            yield
        self._keyboard = None

    def look(self) -> None:
        """Take the keys that were pressed."""
        with contextlib.suppress(EOFError):
            while self._keyboard is not None and (key := self._keyboard.key(0.0)):
                self._take(key)

    def _take(self, key: str) -> None:
        stands = self.state == TaskState.PAUSED
        asks = {" ": "resume" if stands else "pause", "s": "step"}
        if key not in asks:
            self._say(HELP)
            return
        client = self._clients[asks[key]]
        if client.service_is_ready():
            client.call_async(Trigger.Request()).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        answer = future.result()
        if not answer.success:
            self._say(f"Not possible: {answer.message}")


PATIENCE = 60.0  # s, for the other nodes to come up
QUIET = 4.0  # s of waiting after which a person is told for what
ANSWER = 30.0  # s, for a server that is there to answer
NUT_ANSWER = 10.0  # s, for nut_world/state, which comes every second, to catch up with the arm
FEEDBACK = QoSProfile(depth=1000)  # no step is left out because this machine was busy
RECORD_ANGLE = 0.02  # rad, between two recorded arm postures


class TaskClient:
    """Runs one task and keeps what happened.

    Args:
        model: The robot, for the names of its joints.

    Attributes:
        postures: Recorded joint positions (n,) [rad or m], in the order of the model's joints.
        track: All of them since the first step, each with the index of the step.
    """

    def __init__(self, model: RobotModel) -> None:
        self._names = model.joint_names
        self.postures: list[Array] = []
        self.track: list[tuple[int, Array]] = []
        self._payloads: dict[str, Array] = {}
        self._nut: NutState | None = None
        self._hardware: HardwareStatus | None = None
        self._step = -1
        self._paused = False
        self._node = rclpy.create_node("run_task")
        self._keys = RunControlKeys(self._node, say)
        self._action = ActionClient(
            self._node,
            RunTask,
            "run_task",
            goal_service_qos_profile=GOAL,
            feedback_sub_qos_profile=FEEDBACK,
        )
        self._node.create_subscription(JointState, "joint_states", self._on_joints, 10)
        self._node.create_subscription(NutState, "nut_world/state", self._on_nut, 10)
        self._node.create_subscription(
            TFMessage, "payload_world/poses", self._on_payloads, LATCHED
        )
        self._node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_hardware, LATCHED
        )

    def close(self) -> None:
        """End the node."""
        self._node.destroy_node()

    def nut(self, expected: Callable[[NutState], bool]) -> NutState | None:
        """Return where the nut is now, or None if no simulated world says so.

        Args:
            expected: Whether it is where it should be. The world may lag behind the arm, so it
                is given time to say so; if it does not, its last word counts.
        """
        self._nut = None
        with contextlib.suppress(TasksError):
            if self.simulated:
                self._wait(
                    lambda: self._nut is not None and expected(self._nut),
                    "nut_world/state",
                    NUT_ANSWER,
                )
        return self._nut

    def payload(self, name: str, expected: Callable[[Array], bool]) -> Array | None:
        """Return base_link <- payload (4, 4) now [m], None if no simulated world says so.

        Args:
            name: The payload.
            expected: Whether it is where it should be, for which the world is given time.
        """
        with contextlib.suppress(TasksError):
            if self.simulated:
                self._wait(
                    lambda: name in self._payloads and expected(self._payloads[name]),
                    "payload_world/poses",
                    NUT_ANSWER,
                )
        return self._payloads.get(name)

    @property
    def simulated(self) -> bool:
        """Whether the hardware is not real, so that there is a simulated world."""
        return self._hardware is not None and self._hardware.hardware != "real"

    def wait_ready(self) -> None:
        """Wait until the task server answers and the driver is armed.

        Raises:
            TasksError: They did not come.
        """
        self._wait(self._action.server_is_ready, "the task server")
        self._wait(lambda: self._hardware is not None, "the servo driver")
        # a person arms real servos, and takes the time that it takes
        patience = PATIENCE if self.simulated else math.inf
        what = "the servo driver to be armed"
        self._wait(self._is_armed, what, patience, self._hardware_message)

    def run(self, goal: RunTask.Goal) -> RunTask.Result:
        """Run a task to its end; on KeyboardInterrupt cancel it first.

        Raises:
            TasksError: The server does not answer.
        """
        print(f"Checking {goal.task} ...", flush=True)
        sent = self._action.send_goal_async(goal, feedback_callback=self._on_feedback)
        handle = self._await(sent, "the answer of the task server")
        if not handle.accepted:
            raise TasksError("the task server refused the goal; its log says why")
        result = handle.get_result_async()
        try:
            with self._keys.reading():
                self._watch(result)
        except KeyboardInterrupt:
            self._cancel(handle, result)
            raise
        end: RunTask.Result = result.result().result
        for step in end.report[max(self._step + 1, goal.start_step) : end.steps_done]:
            self._tell(step.index, end.steps_total, step.name)  # its feedback was overtaken
        return end

    def _watch(self, result: Future) -> None:
        """Spin until a task has ended, and take keys."""
        while not result.done():
            with deferred():
                rclpy.spin_once(self._node, timeout_sec=0.1)
            self._keys.look()
            if not self._action.server_is_ready():
                raise TasksError("the task server is gone; its log says why")

    def _cancel(self, handle: Any, result: Future) -> None:
        """Cancel a goal and wait for its end, as far as the server still answers."""
        with contextlib.suppress(TasksError):
            self._await(handle.cancel_goal_async(), "the cancellation")
            self._await(result, "the end of the task")
            print(f"\n{result.result().result.message}", flush=True)

    def _await(self, future: Future, what: str) -> Any:
        """Spin until a future is done and return its result."""
        self._wait(future.done, what, ANSWER)
        return future.result()

    def _wait(
        self,
        condition: Callable[[], bool],
        what: str,
        patience: float = PATIENCE,
        reason: Callable[[], str] = str,
    ) -> None:
        """Spin until a condition holds; say what for if it takes long."""
        begin, told = time.monotonic(), False
        while not condition():
            with deferred():
                rclpy.spin_once(self._node, timeout_sec=0.1)
            waited = time.monotonic() - begin
            if waited > patience:
                why = f" ({reason()})" if reason() else ""
                raise TasksError(f"waited {patience:.0f} s in vain for {what}{why}")
            if waited > QUIET and not told:
                print(f"Waiting for {what}. {reason()}".rstrip(), flush=True)
                told = True

    def _is_armed(self) -> bool:
        return self._hardware is not None and self._hardware.state in READY_STATES

    def _hardware_message(self) -> str:
        return str(self._hardware.message) if self._hardware else ""

    def _on_hardware(self, message: HardwareStatus) -> None:
        self._hardware = message

    def _on_nut(self, message: NutState) -> None:
        self._nut = message

    def _on_payloads(self, message: TFMessage) -> None:
        for frame in message.transforms:
            self._payloads[frame.child_frame_id] = transform_matrix(frame.transform)

    def _on_joints(self, message: JointState) -> None:
        """Record a posture where it differs from the last."""
        by_name = dict(zip(message.name, message.position, strict=False))
        if all(name in by_name for name in self._names):
            now = np.array([by_name[name] for name in self._names])
            if self._step >= 0:
                self.track.append((self._step, now))
            if not self.postures or np.abs(now - self.postures[-1]).max() > RECORD_ANGLE:
                self.postures.append(now)

    def _on_feedback(self, message: Any) -> None:
        """Print a step when it begins, and what is waited for before there are any."""
        feedback = message.feedback
        self._keys.state = feedback.state
        was_paused, self._paused = self._paused, feedback.state == TaskState.PAUSED
        if not feedback.steps_total:
            say(feedback.message)
        elif self._paused:
            if not was_paused:
                say(f"[{feedback.step + 1:3d}/{feedback.steps_total}] paused: {feedback.message}")
        elif was_paused and feedback.step == self._step:
            say(f"[{feedback.step + 1:3d}/{feedback.steps_total}] going on")
        elif feedback.step != self._step:
            self._tell(feedback.step, feedback.steps_total, feedback.message)

    def _tell(self, step: int, total: int, message: str) -> None:
        """Print a step."""
        self._step = step
        say(f"[{step + 1:3d}/{total}] {message}")


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)
