# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Client of run_task for a terminal: prints each step, records joints and nut, reads keys."""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import rclpy
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.message_conversions import stamp_seconds, transform_matrix
from arm_common.ros.qos import GOAL, JOINT_STATES, LATCHED, NEWEST_STATE, STEADY_CLOCK
from arm_common.ros.service_client import ServiceClient
from arm_common.suggestions import program
from arm_common.terminal import Keyboard
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState
from arm_tasks.errors import TasksError
from arm_tasks.ros.client.future import ArmFuture, ClientThread
from arm_tasks.ros.client.task_goal import Progress, TaskGoal, TaskServerClient
from arm_tasks.ros.prefix_search import PrefixSearch

_HELP = "Keys: space pauses and resumes, s does one step, Ctrl-C cancels."
_TIMEOUT = 60.0  # [s], for the other nodes to start
_FIRST_START = 300.0  # [s], for the task server, which waits until the kinematics are compiled
_COMPILES = "The first start compiles the kinematics, which takes a minute or two."
_NOTIFY_DELAY = 4.0  # [s] of waiting after which the reason is printed
_POLL_PERIOD = 0.05  # [s], before and after the task
_TAKE_PERIOD = 0.4  # [s] in which messages wait that are recorded and not printed
_KEY_PERIOD = 0.4  # [s] in which the end of a task is noticed
_ARMED = (HardwareStatus.ARMED, HardwareStatus.MOVING)
_CANCEL_TICKS = 3  # of the heartbeat that may be missing after Ctrl-C
_WORLD_TIMEOUT = 10.0  # [s], for the simulated world to catch up with the arm
_WORLD_TRIES = 6
BLIND = "nut_world has seen nothing since the end; is it running, and does it receive tf?"
_RECORD_ANGLE = 0.02  # [rad] between two recorded postures
_Seen = TypeVar("_Seen")


class TaskClient:
    """Runs one task and records the motion; messages arrive in a background thread.

    Only the progress of the task wakes that thread. What it records waits in the middleware.

    Args:
        model: The robot.
        prefix: Prefix of its joints and frames; None to find it in joint_states.
        has_track: Whether to record the track, with the true joints.
        has_keyboard: Whether keys pause the task; None if standard input is a terminal.

    Attributes:
        arm: Namespace of the arm, such as left; "" for none.
        postures: Recorded joint positions (n,) [rad or m], in the order of the model's joints.
        track: All positions since the first step, each with the index of its step; the true ones
            where contact physics publishes them.
    """

    def __init__(
        self,
        model: RobotModel,
        prefix: str | None = None,
        has_track: bool = False,
        has_keyboard: bool | None = None,
    ) -> None:
        self._joints = model.joint_names
        self._search = PrefixSearch(self._joints, prefix)
        self._has_track = has_track
        self._has_keyboard = sys.stdin.isatty() if has_keyboard is None else has_keyboard
        self._has_joint_states = self._sees_truth = False
        self.postures: list[Array] = []
        self.track: list[tuple[int, Array]] = []
        self._stamp = 0.0  # of the last joint_states [s]
        self._payloads: dict[str, tuple[float, Array]] = {}
        self._nut: NutState | None = None
        self._world_heard = 0.0  # when the last message of the simulated world arrived
        self._hardware: HardwareStatus | None = None
        self._step = -1
        self._is_paused = self._has_ended = False
        self._node = rclpy.create_node("task_client", start_parameter_services=False)
        self.arm = str(self._node.get_namespace().strip("/"))
        self._server = TaskServerClient(self._node)
        self._controls = {
            name: ServiceClient(self._node, Trigger, f"task_server/{name}", GOAL)
            for name in (("pause", "resume", "step") if self._has_keyboard else ())
        }
        polled = PolledSubscriptions()
        for kind, topic, callback, qos in (
            (JointState, "joint_states", self._on_joints, JOINT_STATES),
            (NutState, "nut_world/state", self._on_nut, NEWEST_STATE),
            (TFMessage, "payload_world/poses", self._on_payloads, LATCHED),
            (HardwareStatus, "arm_hardware/status", self._on_hardware, LATCHED),
        ):
            polled.subscribe(self._node, kind, topic, callback, qos)
        if has_track:
            truth = "ground_truth/joint_states"
            polled.subscribe(self._node, JointState, truth, self._on_true_joints, JOINT_STATES)
        self._take = polled.take
        self._node.create_timer(_TAKE_PERIOD, self._take, clock=STEADY_CLOCK)
        self._thread = ClientThread(self._node)

    def close(self) -> None:
        """Stop the thread and destroy the node."""
        self._thread.close()

    def nut(self, expected: Callable[[NutState], bool]) -> NutState | None:
        """Return the state of the nut, or None without a simulated world that sees the arm now.

        The world may lag behind the arm: wait for the expected state, then return the last one.
        """
        now = self._stamp

        def current() -> NutState | None:
            nut = self._nut
            return nut if nut and stamp_seconds(nut.header.stamp) >= now else None

        return self._awaited(current, expected)

    def payload(self, name: str, expected: Callable[[Array], bool]) -> Array | None:
        """Return base_link <- payload (4, 4) [m], like nut()."""
        name, now = self._search.names.add(name), self._stamp

        def current() -> Array | None:
            stamp, T = self._payloads.get(name, (0.0, None))
            return T if stamp >= now else None

        return self._awaited(current, expected)

    @property
    def unjudged(self) -> str:
        """Why the simulated world is not judged, or ""."""
        from arm_tasks.ros.task_messages import is_judged  # with all of planning

        nut = self._nut
        return "" if nut is None or is_judged(nut) else str(nut.message) or "no reason was sent"

    @property
    def judge(self) -> str:
        """What the simulated world decides by; "" if there is none."""
        from arm_tasks.bringup.arguments import WORLDS

        nodes = self._node.get_publishers_info_by_topic("payload_world/poses")
        words = {judge.node: judge.words for judge in WORLDS.values()}
        return ", ".join(sorted({words.get(one.node_name, one.node_name) for one in nodes}))

    @property
    def simulated(self) -> bool:
        """True if the hardware is not real, and thus a simulated world exists."""
        return self._hardware is not None and self._hardware.hardware != "real"

    def wait_ready(self) -> None:
        """Wait until the task server is available and the driver is armed, or raise TasksError."""
        server_is_ready = self._server.action.server_is_ready
        reason = f"{_COMPILES} If no arm is running, start one: {program('arm_tasks', 'demo')}"
        self._wait(server_is_ready, "the task server", _FIRST_START, lambda: reason)
        self._wait(lambda: self._hardware is not None, "the servo driver")
        # a person arms real servos, which may take any time
        timeout = _TIMEOUT if self.simulated else math.inf
        what = "the servo driver to be armed"
        self._wait(self._is_armed, what, timeout, self._hardware_message)
        self._wait(self._knows_joint_states, "joint_states")
        if self._search.problem:
            raise TasksError(self._search.problem)

    def run(self, goal: RunTask.Goal) -> RunTask.Result:
        """Run a task to its end; cancel it on KeyboardInterrupt."""
        _print(f"Checking {goal.task} ...")
        sent = TaskGoal(self._thread, self._server, self._on_progress)
        future = self._thread.start(goal.task, self._run, sent, goal, cancel=sent.cancel)
        try:
            with self._keyboard() as keyboard:
                while not future.done:
                    if keyboard is None or not self._read_key(keyboard):
                        keyboard = None
                        concurrent.futures.wait((future.future,), _KEY_PERIOD)
        except KeyboardInterrupt:
            self._cancel(future)
            raise
        return future.result()

    async def _run(self, sent: TaskGoal, goal: RunTask.Goal) -> RunTask.Result:
        """Await the result, and print the steps whose feedback is late."""
        result = await sent.run(goal)
        first = max(self._step + 1, result.steps_done - len(result.step_durations))
        for step in result.report[first : result.steps_done]:
            self._print_step(step.index, step.number, step.name)
        self._has_ended = True
        return result

    @contextlib.contextmanager
    def _keyboard(self) -> Iterator[Keyboard | None]:
        """Read keys inside this context, if there is a keyboard."""
        if not self._has_keyboard:
            yield None
            return
        with Keyboard() as keyboard:
            _print(_HELP)
            yield keyboard

    def _read_key(self, keyboard: Keyboard) -> bool:
        """Wait for a key and handle it; return False once the terminal was closed."""
        try:
            key = keyboard.key(_KEY_PERIOD)
        except EOFError:
            return False
        if key:
            self._on_key(key)
        return True

    def _on_key(self, key: str) -> None:
        services = {" ": "resume" if self._is_paused else "pause", "s": "step"}
        if key not in services:
            _print(_HELP)
        else:
            self._controls[services[key]].send(self._on_response)

    def _on_response(self, response: Trigger.Response) -> None:
        if not response.success:
            _print(f"Not possible: {response.message}")

    def _cancel(self, future: ArmFuture[RunTask.Result]) -> None:
        """Cancel a task and print its result, as long as the server responds.

        While the arm brakes, the server publishes feedback; DDS drops a killed server after 20 s.
        """
        self._server.require_news(_CANCEL_TICKS)
        future.cancel()
        try:
            _print(f"\n{future.result().message}")
        except TasksError as error:
            _print(f"\nThe cancellation is not confirmed: {error}")

    def _awaited(
        self, current: Callable[[], _Seen | None], expected: Callable[[_Seen], bool]
    ) -> _Seen | None:
        """Wait until something is there as expected; return what is there then."""
        self._wait_for_world(lambda: (seen := current()) is not None and expected(seen))
        return current()

    def _wait_for_world(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, and for longer while a world that is behind advances."""
        for _ in range(_WORLD_TRIES if self.simulated else 0):
            before = self._seen
            with contextlib.suppress(TasksError):
                self._wait(
                    lambda: self.unjudged or condition(), "the simulated world", _WORLD_TIMEOUT
                )
                return
            if not before < self._seen < self._stamp:
                return

    @property
    def _seen(self) -> float:
        """Stamp of the newest state of the simulated world [s]; 0 before the first."""
        nut = stamp_seconds(self._nut.header.stamp) if self._nut else 0.0
        return max(nut, *(stamp for stamp, _ in tuple(self._payloads.values())), 0.0)

    @property
    def unseen(self) -> str:
        """The reason that the simulated world has not seen the end of the run."""
        behind, silence = self._stamp - self._seen, time.monotonic() - self._world_heard
        if not self._seen or silence > _WORLD_TIMEOUT or behind <= 0.0:
            return BLIND
        return f"nut_world is {behind:.1f} s behind: the computer is too slow"

    def _wait(
        self,
        condition: Callable[[], Any],
        what: str,
        timeout: float = _TIMEOUT,
        reason: Callable[[], str] = str,
    ) -> None:
        """Wait until a condition holds; print what is awaited if that takes long."""
        begin, notified = time.monotonic(), False
        while not condition():
            self._thread.call_soon(self._take)
            time.sleep(_POLL_PERIOD)
            waited = time.monotonic() - begin
            if waited > timeout:
                why = f" ({reason()})" if reason() else ""
                raise TasksError(f"waited {timeout:g} s for {what}{why}")
            if waited > _NOTIFY_DELAY and not notified:
                _print(f"Waiting for {what}. {reason()}".rstrip())
                notified = True

    def _is_armed(self) -> bool:
        return self._hardware is not None and self._hardware.state in _ARMED

    def _knows_joint_states(self) -> bool:
        return self._has_joint_states or not self._node.count_publishers("joint_states")

    def _hardware_message(self) -> str:
        """Return why the driver is not armed, and what arms it."""
        if self._hardware is None:
            return ""
        message, command = str(self._hardware.message), program("arm_hardware", "arm")
        return message if command in message else f"{message} Arm it: {command}"

    def _on_hardware(self, message: HardwareStatus) -> None:
        self._hardware = message

    def _on_nut(self, message: NutState) -> None:
        self._nut, self._world_heard = message, time.monotonic()

    def _on_payloads(self, message: TFMessage) -> None:
        self._world_heard = time.monotonic()
        for frame in message.transforms:
            seen = stamp_seconds(frame.header.stamp), transform_matrix(frame.transform)
            self._payloads[frame.child_frame_id] = seen

    def _on_joints(self, message: JointState) -> None:
        """Record the posture if it differs from the last one."""
        self._has_joint_states, self._stamp = True, stamp_seconds(message.header.stamp)
        self._search.receive(message.name)
        if (q := self._positions(message)) is None:
            return
        if not self._sees_truth:
            self._add_to_track(q)
        if not self.postures or np.abs(q - self.postures[-1]).max() > _RECORD_ANGLE:
            self.postures.append(q)

    def _on_true_joints(self, message: JointState) -> None:
        self._sees_truth = True
        if (q := self._positions(message)) is not None:
            self._add_to_track(q)

    def _add_to_track(self, q: Array) -> None:
        if self._has_track and self._step >= 0:
            self.track.append((self._step, q))

    def _positions(self, message: JointState) -> Array | None:
        """Return the joint positions (n,) of a message [rad or m], None if one is missing."""
        by_name = self._search.names.own(message.name, message.position)
        if self._search.problem or not by_name.keys() >= set(self._joints):
            return None
        return np.array([by_name[name] for name in self._joints])

    def _on_progress(self, progress: Progress) -> None:
        """Print each step when it starts, and the reason for waiting before the first."""
        was_paused, self._is_paused = self._is_paused, progress.paused
        number, text = progress.number, progress.message
        if self._has_ended:
            return
        if not progress.steps_total:
            _print(text)
        elif progress.paused:
            if not was_paused:
                self._print_line(number, f"paused: {text}")
        elif progress.step != self._step:
            self._print_step(progress.step, number, text)
        elif was_paused:
            self._print_line(number, "resumed")

    def _print_step(self, step: int, number: str, message: str) -> None:
        self._step = step
        self._print_line(number, message)

    def _print_line(self, number: str, message: str) -> None:
        """Print a line about a step, whose number is that of the task file."""
        arm = f"{self.arm} " if self.arm else ""
        _print(f"{arm}[{number:<4}] {message}")


def _print(line: str) -> None:
    print(line, flush=True)
