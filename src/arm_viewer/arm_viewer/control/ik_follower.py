# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moves the arm after a handle: one IK request at a time, always for the newest target.

An unreachable target is reported and the arm keeps its position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from arm_common.transforms import Array, rpy_matrix

from arm_viewer.port import IkRequest, IkResponse, ResponseCallback, Solution

LARGEST_STEP = 1.2  # [rad or m] of one joint between two solutions; more is another posture
RESPONSE_TIMEOUT = 3.0  # [s]
MAX_SOLUTIONS = 16
LATE = "The inverse kinematics did not answer in time; nothing moved. Give the target again."
UNAVAILABLE = "The inverse kinematics does not answer: it is still starting, or has ended."
STOPPED = "Stopped: nothing moves until Reset."


def default_mode(arm_joints: int) -> str:
    """Return the strictest mode that an arm with this number of joints can meet."""
    if arm_joints >= 6:
        return "Pose"
    return "Position and axis" if arm_joints == 5 else "Position"


def jogged(pose: Array, jog: str, step: float, own_axes: bool) -> Array:
    """Return a pose (4, 4) after one step [m or rad] along, or about, an axis, x to rz.

    The axis is the tool's own, or that of the pose's frame.
    """
    unit, zero = np.eye(3)["xyz".index(jog[-1])] * step, np.zeros(3)
    motion = rpy_matrix(zero, unit) if jog[0] == "r" else rpy_matrix(unit, zero)
    if own_axes:
        return np.asarray(pose @ motion)
    moved: Array = pose.copy()
    moved[:3, :3] = motion[:3, :3] @ pose[:3, :3]
    moved[:3, 3] += motion[:3, 3]
    return moved


@dataclass
class IkFollower:
    """Moves the arm to the newest target through IK. Not thread-safe: used by one thread.

    `send` requests a pose (4, 4) in a frame from a solver, passes the response on to its last
    argument, and returns False if the solver is unavailable. `command` moves joints, by name
    [rad or m], and returns a problem or "". `report` takes one sentence for the user, "" if all is
    well.
    """

    send: Callable[[str, Array, IkRequest, ResponseCallback], bool]
    positions: Callable[[], Mapping[str, float]]  # returns the measured ones by name [rad or m]
    command: Callable[[Mapping[str, float]], str]
    report: Callable[[str], None]
    show_solutions: Callable[[Sequence[Solution]], None]
    clock: Callable[[], float]  # returns the time [s]
    request: IkRequest = field(default_factory=IkRequest)  # how targets are to be met
    stopped: bool = False  # whether nothing may move
    _pending: tuple[str, Array] | None = None
    _sent_at: float | None = None
    _requests: int = 0  # how many have been sent or dropped
    _solutions: tuple[Solution, ...] = ()

    def move_to(self, frame: str, pose: Array) -> None:
        """Bring the tool to a pose (4, 4) in a frame, as soon as the solver is free."""
        if self.stopped:
            self.report(STOPPED)
            return
        self._pending = (frame, pose.copy())
        self._send_pending()

    def list_solutions(self, frame: str, pose: Array) -> None:
        """Request all postures that bring the tool to a pose (4, 4), to choose from."""
        self.drop_requests()
        request = replace(self.request, max_solutions=MAX_SOLUTIONS)
        self._send(frame, pose, request, self._list)

    def select_solution(self, index: int) -> None:
        """Move to one of the solutions shown last."""
        if 0 <= index < len(self._solutions):
            self.drop_requests()
            self._move(self._solutions[index].joints)

    def drop_requests(self) -> None:
        """Ignore the targets so far, also the response to a request that was sent.

        Otherwise it would move the arm away from where a later command brought it.
        """
        self._pending = self._sent_at = None
        self._requests += 1

    def stop(self) -> None:
        """Move nothing until `reset`, whatever responses still arrive."""
        self.stopped = True
        self.drop_requests()

    def reset(self) -> None:
        """Allow motion again."""
        self.stopped = False

    def check_response(self) -> None:
        """Send the newest target, or report, if a response is overdue; to be called periodically.

        A response can be lost, with a solver that ends or on the network.
        """
        if not self._is_overdue():
            return
        if self._pending is None:
            self.drop_requests()
            self.report(LATE)
        self._send_pending()

    def _is_overdue(self) -> bool:
        return self._sent_at is not None and self.clock() >= self._sent_at + RESPONSE_TIMEOUT

    def _send_pending(self) -> None:
        if self._pending is not None and (self._sent_at is None or self._is_overdue()):
            (frame, pose), self._pending = self._pending, None
            self._send(frame, pose, self.request, self._follow)

    def _send(
        self, frame: str, pose: Array, request: IkRequest, process: ResponseCallback
    ) -> None:
        self._requests += 1
        sent = self.send(frame, pose, request, partial(self._receive, self._requests, process))
        self._sent_at = self.clock() if sent else None
        if not sent:
            self.report(UNAVAILABLE)

    def _receive(self, number: int, process: ResponseCallback, response: IkResponse) -> None:
        """Process the response to a request, unless a later one has replaced it."""
        if number != self._requests:
            return
        is_late, self._sent_at = self._is_overdue(), None
        if is_late:
            self.report(LATE)
        else:
            process(response)
        self._send_pending()

    def _list(self, response: IkResponse) -> None:
        self._solutions = response.solutions if response.ok else ()
        self.show_solutions(self._solutions)
        if not response.ok:
            self.report(response.problem)

    def _follow(self, response: IkResponse) -> None:
        if not response.ok:
            self.report(response.problem)
            return
        joints, measured = response.solutions[0].joints, self.positions()
        steps = {name: abs(q - measured.get(name, q)) for name, q in joints.items()}
        largest = max(steps, key=steps.__getitem__)
        if steps[largest] > LARGEST_STEP:
            self.report(
                f"Only another posture reaches this target ({largest} would jump): "
                "choose it under Solutions."
            )
            return
        self._move(joints, response.residual)

    def _move(self, joints: Mapping[str, float], residual: str = "") -> None:
        self.report((STOPPED if self.stopped else self.command(joints)) or residual)
