# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the services of teaching share: where the arm stands, and answers as sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arm_description import DescriptionError
from arm_tasks.errors import TasksError
from arm_tasks.geometry import Array

if TYPE_CHECKING:
    from arm_tasks.task_server_node import TaskServer

ERRORS = (TasksError, DescriptionError, OSError)


def here(server: TaskServer) -> tuple[dict[str, float], Array]:
    """Return where the arm stands: joints by name, base_link <- tool0 (4, 4).

    Raises:
        TasksError: It is not known, or it moves.
    """
    positions, names = server.port.where().positions, server.chain.joint_names
    if any(name not in positions for name in names) or server.state.lost():
        raise TasksError(server.state.not_ready())
    if server.state.moving:
        raise TasksError("the arm is moving; let it come to rest, then ask again")
    joints = {name: float(positions[name]) for name in names}
    return joints, server.chain.fk(list(joints.values()))


def answering(answer: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
    """Return a callback that answers with success and a sentence."""

    def callback(request: Any, response: Any) -> Any:
        try:
            response.message = answer(request, response)
            response.success = True
        except ERRORS as error:
            response.message = str(error)
        return response

    return callback
