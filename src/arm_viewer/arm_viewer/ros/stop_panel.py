# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The stop button: always the first thing of the panel, and the key S."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arm_common.ros.executor import QUIET
from arm_common.ros.qos import GOAL
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus
from arm_viewer.browser.server import CallbackQueue, on_user

if TYPE_CHECKING:
    import viser

# mypy: disable-error-code="no-untyped-call"


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RED = (220, 38, 38)
NAMES = {0: "unknown position", 1: "disarmed", 2: "armed", 3: "moving", 4: "stopped", 5: "fault"}


# Scrolling the panel leaves the button at its top. What is around it must not cut it off.
STAYS = """<style>
.mantine-ScrollArea-content div:has(div:first-child > button) { overflow: visible !important }
.mantine-ScrollArea-content div:has(> button):first-child {
  position: sticky; top: 0.4em; z-index: 9
}
</style>"""


class StopPanel:
    """Stops the view's own motions and the driver, and resets both.

    Publishes arm_hardware/stop_now (std_msgs/Empty); calls arm_hardware/reset; subscribes
    arm_hardware/status.

    Args:
        node: The node that speaks ROS.
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
        stop: Stops what the view itself moves.
        reset: Allows it again.
        say: Shows what the driver is doing.
    """

    def __init__(
        self,
        node: Node,
        server: viser.ViserServer,
        mailbox: CallbackQueue,
        stop: Callable[[], None],
        reset: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._stop, self._reset, self._say = stop, reset, say
        self._publisher = node.create_publisher(Empty, "arm_hardware/stop_now", 10)
        self._client = node.create_client(Trigger, "arm_hardware/reset", qos_profile=GOAL)
        node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED, event_callbacks=QUIET
        )
        gui = server.gui
        button = gui.add_button(
            "STOP", color=RED, order=-2, hint="Stops the arm at once (key S); it holds."
        )
        command = gui.add_command("STOP", description="Stops the arm at once", hotkey="S")
        back = gui.add_button("Reset", color="gray", order=-1, hint="Allows motion again.")
        self._back = back
        gui.add_html(STAYS, order=99)
        back.visible = False
        on_user(mailbox, button.on_click, self.stop)
        on_user(mailbox, command.on_trigger, self.stop)
        on_user(mailbox, back.on_click, self.reset)

    def stop(self) -> None:
        """Stop everything; nothing moves before a reset."""
        self._publisher.publish(Empty())
        self._stop()
        self._back.visible = True

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        if self._client.service_is_ready():
            self._client.call_async(Trigger.Request()).add_done_callback(self._on_reset)
        self._reset()
        self._back.visible = False

    def _on_reset(self, future: Any) -> None:
        self._say(future.result().message)

    def _on_status(self, status: HardwareStatus) -> None:
        name = NAMES.get(status.state, str(status.state))
        self._say(f"{status.hardware}, {name}: {status.message}")
        if status.state == HardwareStatus.STOPPED:
            self._back.visible = True
