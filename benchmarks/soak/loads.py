# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Clients that load the nodes: goals, tasks, requests, visits to the view, turns of the nut."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from arm_common.ros.message_conversions import transform_message
from arm_common.ros.qos import FEEDBACK, TF, TF_TOPIC
from arm_common.transforms import pose, shift_z, turn_z
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_tasks.scene.file import load_scene
from arm_tasks.task.parser import load_task
from arm_testing.pages.viewer_client import Spectator, visit
from bench_services import KINDS, requests
from bench_stack import VIEW, Watch
from bench_viewer import view_address
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.context import Context
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState
from arm_kinematics import Chain
from soak.growth import COUNTS, SELF, WINDOWS, Growth, Use, Window

ROBOT, SCENE, TASK = "nut_arm", "nut_transfer", "draw_square"
POINTS, DURATION = 100, 0.2  # of a trajectory; [s] of simulated time
SWING = 0.02  # [rad]
ARMED = 10  # runs of TASK before anything is measured
OPEN, SHUT = 0.02, 0.0105  # width of the jaws [m]
NUT_AT, ROLL = 2.78e-3, 90.0  # of the nut on its bolt, past the end [m], and of the jaws [deg]
TURN, UPDATES = 30.0, 20  # of the nut [deg], and in how many messages
SETTLING = 10.0  # [s] for closed connections and ended children to go


@dataclass(frozen=True)
class Load:
    """A kind of operation."""

    title: str
    count: int  # of the whole test
    block: int  # operations in a block that is compared with a fresh stack
    at_once: int = 1


LOADS = {
    "goals": Load("goals to the driver", 10_000, 60),
    "tasks": Load("tasks of one step", 2_000, 15),
    "runs": Load(f"runs of {TASK}", 50, 3),
    "requests": Load("requests to kinematics", 100_000, 3_000, at_once=4),
    "visits": Load("visits to the view", 1_000, 30),
    "turns": Load("turns of the nut", 2_000, 40),
}


class LoadClient(Watch):
    """A client that sends operations and waits for each.

    Attributes:
        sends: Load -> function that sends its k-th operation.
    """

    def __init__(self, group: ProcessGroup, domain: int) -> None:
        context = Context()
        context.init(domain_id=domain)
        super().__init__(group, context=context, name=f"bench_{domain}")
        self.group = group
        self.done = self._sent = 0
        self.sends: dict[str, Callable[[int], None]] = {}

    def close(self) -> None:
        """End the client."""
        self._executor.shutdown()
        self.node.destroy_node()
        self.node.context.try_shutdown()

    def uses(self) -> dict[str, Use]:
        """Return the resources of all processes by name."""
        pids = self.group.pids() | {SELF: os.getpid()}
        return {name: Use.of(pid) for name, pid in pids.items()}

    def load(self, name: str, count: int) -> Growth:
        """Send operations, and measure them in windows."""
        found, reference = Growth(LOADS[name].title), self.uses()
        for k in range(WINDOWS):
            part = count * (k + 1) // WINDOWS - count * k // WINDOWS
            found.windows.append(self.window(name, part, reference))
            reference = found.windows[0].after
            print(f"{found.title} {k + 1}/{WINDOWS}: {found.windows[-1]}", flush=True)
        return found

    def window(self, name: str, count: int, expected: Mapping[str, Use] | None = None) -> Window:
        """Send some operations; then wait up to 10 s for expected descriptors and threads."""
        before, begin = self.uses(), time.monotonic()
        self._send_all(self.sends[name], count, LOADS[name].at_once)
        seconds, after = time.monotonic() - begin, self.uses()
        settled, end = after, time.monotonic() + SETTLING
        while expected and _counts(settled) != _counts(expected) and time.monotonic() < end:
            self.spin_for(0.2)
            settled = self.uses()
        after = {process: use._replace(cpu=after[process].cpu) for process, use in settled.items()}
        return Window(count, seconds, before, after)

    def _send_all(self, send: Callable[[int], None], count: int, at_once: int) -> None:
        goal, limit = self.done + count, self._sent + count
        while self.done < goal:
            if self._sent < min(limit, self.done + at_once):
                self._sent += 1
                send(self._sent)
            else:
                self.wait_for(partial(self._has_passed, self.done), "the end of an operation")

    def _has_passed(self, count: int) -> bool:
        return self.done > count

    def _on_done(self, _: Any = None) -> None:
        self.done += 1


def _counts(uses: Mapping[str, Use]) -> list[int]:
    return [getattr(use, kind) for use in uses.values() for kind in COUNTS]


class ArmClient(LoadClient):
    """Loads driver, task server, kinematics and view, of which a spectator stays connected."""

    def __init__(self, group: ProcessGroup, domain: int) -> None:
        super().__init__(group, domain)
        self._spectator: Spectator | None = None
        self._follow = ActionClient(
            self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        self._run = ActionClient(self.node, RunTask, "run_task", feedback_sub_qos_profile=FEEDBACK)
        self._chain = Chain.from_model(load_robot(ROBOT))
        self._goals = [self._goal(side) for side in (-SWING, SWING)]
        self._services = {
            name: self.node.create_client(kind, f"kinematics/{name}")
            for name, kind in KINDS.items()
        }
        self._requests = [
            (name, request)
            for same in zip(*(requests(name, self._chain, 100) for name in KINDS), strict=True)
            for name, request in zip(KINDS, same, strict=True)
        ]
        self.sends = {
            "goals": lambda k: self._act(self._follow, self._goals[k % 2]),
            "tasks": self._send_task,
            "runs": self._send_run,
            "requests": self._send_request,
        }

    def prepare(self) -> None:
        """Wait for all nodes; connect a spectator to the view; run a task several times."""
        self.wait_for(lambda: self.state == HardwareStatus.ARMED, "the driver")
        self.wait_for(self._run.server_is_ready, "the task server")
        self.wait_for(self._follow.server_is_ready, "the driver's action")
        for service in self._services.values():
            self.wait_for(service.service_is_ready, "kinematics")
        if VIEW in self.group.pids():
            self.wait_for(lambda: view_address(self.group), "the view")
            address = view_address(self.group)
            self._spectator = Spectator(address)
            self._spectator.start()
            self.sends["visits"] = partial(self._visit, address)
        self._send_all(self._send_run, ARMED, 1)

    def update(self) -> None:
        """Exit if a process has ended or the spectator lost its connection."""
        super().update()
        if self._spectator is not None and not self._spectator.is_alive():
            raise SystemExit("the view has closed the connection of its spectator")

    def close(self) -> None:
        """End client and spectator."""
        if self._spectator is not None:
            self._spectator.open = False
        super().close()

    def _visit(self, address: str, _: int) -> None:
        visit(address)
        self._on_done()

    def _goal(self, side: float) -> FollowJointTrajectory.Goal:
        """Return a trajectory that swings the first joint to one side."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(self._chain.joint_names)
        for i in range(1, POINTS + 1):
            part = i / POINTS
            smooth = side * (2.0 * part * part * (3.0 - 2.0 * part) - 1.0)
            point = JointTrajectoryPoint(positions=[smooth] + [0.0] * (self._chain.n - 1))
            point.time_from_start.nanosec = int(DURATION * part * 1e9)
            goal.trajectory.points.append(point)
        return goal

    def _send_task(self, k: int) -> None:
        side = (SWING if k % 2 else -SWING) + 1e-6 * k
        text = f"task: soak\nsteps:\n  - move_joints: {{joints: {{waist: {side:.6f}}}}}\n"
        self._act(self._run, RunTask.Goal(task="soak", text=text))

    def _send_run(self, _: int) -> None:
        self._act(self._run, RunTask.Goal(task=TASK, scene=load_task(TASK).scene))

    def _send_request(self, k: int) -> None:
        name, request = self._requests[k % len(self._requests)]
        self._services[name].call_async(request).add_done_callback(self._on_done)

    def _act(self, client: ActionClient, goal: Any) -> None:
        def on_result(future: Any) -> None:
            status, result = future.result().status, future.result().result
            if status != GoalStatus.STATUS_SUCCEEDED:
                raise SystemExit(f"a goal ended with status {status}: {result}")
            self._on_done()

        def on_response(future: Any) -> None:
            handle = future.result()
            if not handle.accepted:
                raise SystemExit("a goal was rejected; see the node's log")
            handle.get_result_async().add_done_callback(on_result)

        client.send_goal_async(goal, lambda _: None).add_done_callback(on_response)


class NutClient(LoadClient):
    """Stands in for the arm of the nut's world: grips the nut, turns it, releases it."""

    def __init__(self, group: ProcessGroup, domain: int) -> None:
        super().__init__(group, domain)
        model, scene = load_robot(ROBOT), load_scene(SCENE)
        assert model.gripper is not None
        self._fingers = [f"{finger}_link" for finger in model.gripper.joints]
        self._bolt = scene.bolt(scene.require_nut().on)
        self._tf = self.node.create_publisher(TFMessage, TF_TOPIC, TF)
        self._was_gripped, self._nut = False, None
        self.node.create_subscription(NutState, "nut_world/state", self._on_nut, TF)
        self.sends = {"turns": self._send_turn}

    def prepare(self) -> None:
        """Wait for the node."""
        self.wait_for(self._tf.get_subscription_count, "the subscriber of tf")
        self.wait_for(lambda: self._nut is not None, "the nut's world")

    def _on_nut(self, message: NutState) -> None:
        self._nut = message
        if message.state == NutState.FALLEN:
            raise SystemExit(f"the nut has fallen: {message.message}")
        if self._was_gripped and not message.grasped:
            self._on_done()
        self._was_gripped = message.grasped

    def _send_turn(self, k: int) -> None:
        """Grip the nut, turn it, forward or back, and release it."""
        start, end = (0.0, TURN) if k % 2 else (TURN, 0.0)
        self._move(start, OPEN)
        self._move(start, SHUT)
        for turned in np.linspace(start, end, UPDATES):
            self._move(float(turned), SHUT)
        self._move(end, OPEN)

    def _move(self, turned_deg: float, width: float) -> None:
        """Publish tool and fingers: the nut turned from its start, and the width of the jaws."""
        forward = self._bolt.hand * self._bolt.pitch * turned_deg / 360.0
        T = self._bolt.pose @ shift_z(NUT_AT + forward) @ turn_z(np.radians(ROLL + turned_deg))
        sides = (pose(p=(0.0, side * width / 2.0, 0.0)) for side in (-1.0, 1.0))
        transforms = [transform_message("base_link", "tool0", T, Time())]
        for finger, side in zip(self._fingers, sides, strict=True):
            transforms.append(transform_message("tool0", finger, side, Time()))
        self._tf.publish(TFMessage(transforms=transforms))
