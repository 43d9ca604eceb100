# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_common/test/ros/actions/test_server.py
"""Action clients that the server of a goal can watch.

rclpy does not tell a server who sent a goal. A `GoalClient` says it: the identifiers of its goals
begin with the name of a topic to which it alone subscribes, where the server probes it.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Empty
from unique_identifier_msgs.msg import UUID

from arm_common.ros.qos import CALLS, GOAL

# mypy: disable-error-code="no-untyped-call, attr-defined"

QUEUES = {f"{name}_service_qos_profile": CALLS for name in ("result", "cancel")}
TOKEN_SIZE = 8  # [bytes] of the 16 of a goal's identifier
# Depth 1: Fast DDS then requests the acknowledgement with each message, not every 3 s.
PROBE = QoSProfile(depth=1)


def client_topics(node: Node, action: str) -> str:
    """Return the beginning of the names of the topics on which the clients are probed."""
    return f"{node.resolve_topic_name(action)}/_action/client_"


class GoalClient(ActionClient):  # type: ignore[misc]
    """An action client whose server ends its goals if it dies, and only then.

    Args:
        node: The node.
        kind: Type of the action.
        name: Name of the action.
        more: Other arguments of rclpy's ActionClient.
    """

    def __init__(self, node: Node, kind: Any, name: str, **more: Any) -> None:
        self._token = secrets.token_bytes(TOKEN_SIZE)
        self._sending = threading.Lock()
        self._listed: set[int] = set()  # sequence numbers of goals whose response is late or lost
        topic = client_topics(node, name) + self._token.hex()
        # The middleware acknowledges the probes, whatever the executor does. The server is to
        # know of it before it gets a goal.
        self._probes = node.create_subscription(Empty, topic, lambda _: None, PROBE)
        super().__init__(node, kind, name, goal_service_qos_profile=GOAL, **QUEUES, **more)

    def new_goal_id(self) -> UUID:
        """Return an identifier of a goal that names this client."""
        return UUID(uuid=list(self._token + secrets.token_bytes(16 - TOKEN_SIZE)))

    def server_is_ready(self) -> bool:
        """Return True if there is a server."""
        return bool(super().server_is_ready())

    def send_goal_async(
        self, goal: Any, feedback_callback: Any = None, goal_uuid: UUID | None = None
    ) -> Any:
        """Send a goal, as rclpy does; any thread may call it."""
        goal_uuid = goal_uuid or self.new_goal_id()
        with self._sending:
            return super().send_goal_async(goal, feedback_callback, goal_uuid)

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Handle what was taken.

        rclpy notes a goal only after it was sent. The thread that spins the node may get the
        response before, which rclpy would ignore. A goal that the server lists was accepted:
        Fast DDS loses the response of a server that has not discovered this client yet.
        """
        with self._sending:
            pass
        arrived, _ = taken_data.get("goal", (None, None))
        if arrived in self._listed:
            self._listed.remove(arrived)
            del taken_data["goal"]
        for sequence, stamp in self._listed_goals(taken_data):
            if sequence != arrived:
                self._listed.add(sequence)
                response = self._action_type.Impl.SendGoalService.Response(
                    accepted=True, stamp=stamp
                )
                await super().execute({"goal": (sequence, response)})
        await super().execute(taken_data)

    def _listed_goals(self, taken_data: dict[str, Any]) -> list[tuple[int, Any]]:
        """Return the sequence numbers of unanswered goals that a status lists, and its stamps."""
        if "status" not in taken_data or not self._goal_sequence_number_to_goal_id:
            return []
        listed = [status.goal_info for status in taken_data["status"].status_list]
        unanswered = list(self._goal_sequence_number_to_goal_id.items())
        return [(k, g.stamp) for k, goal_id in unanswered for g in listed if g.goal_id == goal_id]

    def destroy(self) -> None:
        """Destroy the client and its subscription."""
        self._node.destroy_subscription(self._probes)
        super().destroy()
