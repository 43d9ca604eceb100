# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A running arm, and teaching it, as objects whose methods wait for their results."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import rclpy
from arm_common.network import limit_to_this_computer
from arm_common.ros.names import PrefixedNames
from arm_common.ros.service_client import ServiceClient
from arm_common.suggestions import did_you_mean
from geometry_msgs.msg import Point
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState

from arm_interfaces.srv import RecordPath, TeachPose, TouchBolt
from arm_tasks.ros.client.async_arm import AsyncArm
from arm_tasks.ros.client.future import ArmError, ArmFuture, ArmTimeoutError, ClientThread
from arm_tasks.ros.client.task_goal import ANSWER, XYZ, number_of

P = ParamSpec("P")
T = TypeVar("T")
_MAX_AGE = 2.0  # [s] of the last joint_states
_ASK_AGAIN = 2.0  # [s]
SURFACES = {
    "rim": TouchBolt.Request.RIM,
    "end": TouchBolt.Request.END,
    "flank": TouchBolt.Request.FLANK,
}
_SERVICES = {
    TeachPose: ("save_pose", "forget_pose"),
    RecordPath: ("record", "end_recording", "replay"),
    TouchBolt: ("touch_bolt",),
}


def _blocking(
    verb: Callable[Concatenate[AsyncArm, P], ArmFuture[T]],
) -> Callable[Concatenate[Arm, P], T]:
    """Return a verb of AsyncArm as a method of Arm that waits for the result."""

    def call(self: Arm, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return verb(self.later, *args, **kwargs).wait()

    functools.update_wrapper(call, verb)
    return call


def _private_node(beside: Node | None, namespace: str) -> Node:
    """Return a node with the context and namespace of another one, or with its own context."""
    if beside is None:
        limit_to_this_computer(os.environ)
        context = rclpy.Context()
        rclpy.init(args=[], context=context)
    else:
        context, namespace = beside.context, beside.get_namespace()
    return rclpy.create_node(
        "arm_client",
        context=context,
        namespace=namespace,
        use_global_arguments=beside is not None,
        start_parameter_services=False,
    )


class Arm:
    """A running arm. `with Arm() as arm:` connects to it and closes the connection at the end.

    Every method may be called from any thread and any callback of your nodes: responses arrive
    through a private node and thread. Only the callbacks that the arm itself calls (`on_progress`,
    `add_done_callback`) must not block; a blocking verb in them raises ArmError at once.

    The task server plans each motion before it starts and checks it for collisions. A rejected
    motion raises ArmError with the reason, and nothing moves. A motion that exceeds its time-out
    is cancelled, the arm holds, and ArmTimeoutError is raised.

    Args:
        node: Your node, whose context and namespace are used; None creates a context.
        namespace: Namespace of the arm if no node is given.
        prefix: Prefix of the arm's joints and frames; None for that of its task server. All
            methods use the names without it.

    Attributes:
        later: The same verbs, which return an ArmFuture at once.
    """

    def __init__(
        self, node: Node | None = None, namespace: str = "", prefix: str | None = None
    ) -> None:
        self._thread = ClientThread(_private_node(node, namespace), owns_context=node is None)
        self._names = PrefixedNames(prefix or "")
        self._is_prefix_known = prefix is not None
        self.later = AsyncArm(self._thread, self._names)
        self._joints: Mapping[str, float] = {}
        self._received = -_MAX_AGE
        self._received_any = False
        self._parameters = ServiceClient(self.node, GetParameters, "task_server/get_parameters")
        self.node.create_subscription(JointState, "joint_states", self._on_joints, 10)

    move_joints = _blocking(AsyncArm.move_joints)
    move_posture = _blocking(AsyncArm.move_posture)
    move_pose = _blocking(AsyncArm.move_pose)
    move_linear = _blocking(AsyncArm.move_linear)
    grip = _blocking(AsyncArm.grip)
    run_task = _blocking(AsyncArm.run_task)
    check_task = _blocking(AsyncArm.check_task)
    ik = _blocking(AsyncArm.ik)
    ik_batch = _blocking(AsyncArm.ik_batch)
    dynamics = _blocking(AsyncArm.dynamics)
    fk = _blocking(AsyncArm.fk)
    stop = _blocking(AsyncArm.stop)
    reset = _blocking(AsyncArm.reset)
    pause = _blocking(AsyncArm.pause)
    resume = _blocking(AsyncArm.resume)

    def __enter__(self) -> Arm:
        try:
            self.connect()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self, timeout: float = 30.0) -> None:
        """Wait until servo driver, kinematics node and task server are available.

        Raises:
            ArmTimeoutError: One of them is missing; the text names it.
        """
        self._thread.start("connect", self._connect, timeout).result(timeout + ANSWER)

    def close(self) -> None:
        """Cancel unfinished verbs, so that the arm holds, and close the connection.

        May be called from any thread; in a callback of the arm it does not wait for the arm.
        """
        self._thread.close()

    @property
    def node(self) -> Node:
        """The private node, spun by a background thread."""
        return self._thread.node

    @property
    def joints(self) -> Mapping[str, float]:
        """Current joint positions, fingers included, by name [rad or m].

        Raises:
            ArmTimeoutError: No joint_states have arrived recently.
        """
        if time.monotonic() - self._received > _MAX_AGE:
            raise ArmTimeoutError(
                f"no joint_states for {_MAX_AGE:g} s; is the servo driver running?"
            )
        return dict(self._joints)

    async def _connect(self, timeout: float) -> None:
        end = time.monotonic() + timeout

        def missing() -> str:
            if self.later.missing or not self._received_any:
                return self.later.missing or "joint_states"
            if not self._is_prefix_known:
                return "" if self._parameters.is_ready else "the task server"
            return "" if self._joints else f"joints named {self._names.prefix}* in joint_states"

        try:
            await self._thread.until(lambda: not missing(), timeout, "the arm")
            if not self._is_prefix_known:
                await self._find_prefix(end)
                left = end - time.monotonic()
                await self._thread.until(lambda: not missing(), left, "the arm")
        except ArmTimeoutError:
            what = missing() or (
                "the arm" if self._is_prefix_known else "the task server's answer"
            )
            raise ArmTimeoutError(f"waited {timeout:g} s for {what}; is it running?") from None

    async def _find_prefix(self, end: float) -> None:
        """Use the prefix of the task server, one of its parameters; ask until a time [s].

        The response to a client that its server has not yet discovered is lost.
        """
        request, asked = GetParameters.Request(names=["prefix"]), list[Future]()

        def answered() -> bool:
            return any(future.done() for future in asked)

        try:
            while not answered():
                remaining = end - time.monotonic()
                if remaining < 0.0:
                    raise ArmTimeoutError("the task server does not answer")
                asked.append(self._parameters.call_async(request))
                with contextlib.suppress(ArmTimeoutError):
                    await self._thread.until(answered, min(_ASK_AGAIN, remaining), "an answer")
            response = next(future.result() for future in asked if future.done())
        finally:
            for future in asked:
                future.cancel()
        self._names.prefix = "".join(value.string_value for value in response.values)
        self._is_prefix_known = True

    def _on_joints(self, message: JointState) -> None:
        if len(message.name) == len(message.position):
            self._received_any = True
            if self._is_prefix_known:
                self._joints = self._names.own(message.name, message.position)
                self._received = time.monotonic()


class Teacher:
    """The teach services of the task server; each method returns a sentence about its result.

    On failure they raise ArmError and change nothing.

    Args:
        arm: The arm.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._clients = {
            name: ServiceClient(arm.node, kind, f"teach/{name}")
            for kind, names in _SERVICES.items()
            for name in names
        }

    def save_pose(self, name: str, replace: bool = False) -> str:
        """Save the current joint positions and tool pose under a name."""
        return self._call("save_pose", name=name, replace=replace)

    def forget_pose(self, name: str) -> str:
        """Remove a pose from the file."""
        return self._call("forget_pose", name=name)

    def record(self, name: str, replace: bool = False) -> str:
        """Start recording the motion of the arm, however it is moved."""
        return self._call("record", name=name, replace=replace)

    def end_recording(self, discard: bool = False) -> str:
        """End the recording; save or discard it."""
        return self._call("end_recording", discard=discard)

    def replay(self, name: str, reverse: bool = False) -> str:
        """Start playing a path; Arm.pause() and stop() interrupt it."""
        return self._call("replay", name=name, reverse=reverse)

    def touch(
        self, bolt: str, surface: Literal["rim", "end", "flank"], touching: XYZ = (0, 0, 0)
    ) -> str:
        """Add the current position of a tool point, given in tool0 [m], as a point of a bolt."""
        if surface not in SURFACES:
            raise ArmError(f"a bolt has no surface {surface!r}; {did_you_mean(surface, SURFACES)}")
        x, y, z = (number_of(value, "a value of touching") for value in touching)
        return self._bolt(bolt, "ADD", surface=SURFACES[surface], touching=Point(x=x, y=y, z=z))

    def clear(self, bolt: str) -> str:
        """Discard the points of a bolt."""
        return self._bolt(bolt, "CLEAR")

    def locate(self, bolt: str) -> str:
        """Locate a bolt from its points; the answer includes the uncertainty."""
        return self._bolt(bolt, "LOCATE")

    def write(self, bolt: str) -> str:
        """Write the location into the scene file."""
        return self._bolt(bolt, "WRITE")

    def click(self, bolt: str) -> str:
        """Tell that the nut, which find_thread turns back, clicks now: there the thread starts."""
        return self._bolt(bolt, "CLICK")

    def write_thread(self, bolt: str) -> str:
        """Write where the thread starts by the last click into the scene file."""
        return self._bolt(bolt, "WRITE_THREAD")

    def _bolt(self, bolt: str, action: str, **fields: Any) -> str:
        chosen = getattr(TouchBolt.Request, action)
        return self._call("touch_bolt", bolt=bolt, action=chosen, **fields)

    def _call(self, service: str, **fields: Any) -> str:
        return self._arm.later.call(self._clients[service], service, **fields).wait()
