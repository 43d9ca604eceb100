# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The stop button: always the first element of the panel, and the key S."""

from __future__ import annotations

from collections.abc import Callable

from arm_common.ros.executor import QUIET
from arm_common.ros.qos import GOAL, LATCHED
from rclpy.node import Node
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus
from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.ros.service_client import ServiceClient

RED = (220, 38, 38)
_STATES = {
    HardwareStatus.UNKNOWN: "unknown position",
    HardwareStatus.DISARMED: "disarmed",
    HardwareStatus.ARMED: "armed",
    HardwareStatus.MOVING: "moving",
    HardwareStatus.STOPPED: "stopped",
    HardwareStatus.FAULT: "fault",
}
# The button stays at the top of the panel while it scrolls; its parents must not clip it.
STICKY = """<style>
.mantine-ScrollArea-content div:has(div:first-child > button) { overflow: visible !important }
.mantine-ScrollArea-content div:has(> button):first-child {
  position: sticky; top: 0.4em; z-index: 9
}
</style>"""


class StopPanel:
    """Stops the view's own motions (`on_stop`) and the driver, and resets both.

    Publishes arm_hardware/emergency_stop (std_msgs/Empty); calls arm_hardware/reset; subscribes
    arm_hardware/status.
    """

    def __init__(
        self,
        node: Node,
        gui: PanelGui,
        on_stop: Callable[[], None],
        on_reset: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        self._on_stop, self._on_reset, self._report = on_stop, on_reset, report
        self._publisher = node.create_publisher(Empty, "arm_hardware/emergency_stop", 10)
        self._driver_reset = ServiceClient(node, Trigger, "arm_hardware/reset", qos=GOAL)
        node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED, event_callbacks=QUIET
        )
        hint = "Stops the arm at once (key S); it holds its position."
        button = gui.button("STOP", self.stop, color=RED, order=-2, hint=hint)
        command = gui.elements.add_command("STOP", description="Stops the arm", hotkey="S")
        gui.on_user(command.on_trigger, self.stop)
        for element in (button, command):  # everyone who sees the arm can stop it
            gui.open_to_everyone(element)
        self._reset_button = gui.button(
            "Reset", self.reset, order=-1, hint="Allows motion again.", visible=False
        )
        gui.elements.add_html(STICKY, order=99)

    def stop(self) -> None:
        """Stop everything until a reset."""
        self._publisher.publish(Empty())
        self._on_stop()
        self._reset_button.visible = True

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        self._driver_reset.call(Trigger.Request(), lambda response: self._report(response.message))
        self._on_reset()
        self._reset_button.visible = False

    def _on_status(self, status: HardwareStatus) -> None:
        state = _STATES.get(status.state, str(status.state))
        self._report(f"{status.hardware}, {state}: {status.message}")
        if status.state == HardwareStatus.STOPPED:
            self._reset_button.visible = True
