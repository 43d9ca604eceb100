# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The stop button, always the first element of the panel, its keys, and the arm's speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from arm_common.ros.executor import QUIET
from arm_common.ros.qos import GOAL, LATCHED
from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus
from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.ros.service_client import ServiceClient

RED = (220, 38, 38)
SPEED_HOLD = 0.5  # [s] after a user moved the speed slider, in which it does not move by itself
_STATES = {
    HardwareStatus.UNKNOWN: "unknown position",
    HardwareStatus.DISARMED: "disarmed",
    HardwareStatus.ARMED: "armed",
    HardwareStatus.MOVING: "moving",
    HardwareStatus.STOPPED: "stopped",
    HardwareStatus.FAULT: "fault",
}
_ARMING = {  # label and hint of the button of a service of the driver
    "arm": ("Arm", "Switches the servos on, anew after a fault; they may move to rest."),
    "disarm": ("Hold", "Disarms: ends every motion; the servos hold until they are armed."),
}
# The button stays at the top of the panel while it scrolls; its parents must not clip it.
STICKY = """<style>
.mantine-ScrollArea-content div:has([id="{button}"]) {{ overflow: visible !important }}
.mantine-ScrollArea-content div:has(> [id="{button}"]) {{
  position: sticky; top: 0.4em; z-index: 9
}}
[id="{button}"] {{ pointer-events: auto !important }}
</style>"""


class StopPanel:
    """Stops the driver and the view's own motions, resets both, and sets the speed.

    It is built first, and `follow` tells it later what else to stop; so it stops the driver,
    whatever fails in other parts of the page.

    Publishes arm_hardware/emergency_stop (std_msgs/Empty) and arm_controller/speed_scaling_input;
    calls arm_hardware/reset, arm and disarm; subscribes arm_hardware/status.
    """

    def __init__(
        self,
        node: Node,
        gui: PanelGui,
        show_status: Callable[[str, str], None],
    ) -> None:
        self._show_status = show_status  # takes the key of a line of the page, and its text
        self._report = partial(show_status, "driver")
        self._on_stop: Callable[[], None] = lambda: None
        self._on_reset: Callable[[], None] = lambda: None
        self._publisher = node.create_publisher(Empty, "arm_hardware/emergency_stop", 10)
        self._driver_reset = ServiceClient(node, Trigger, "arm_hardware/reset", qos=GOAL)
        self._arming = {
            name: ServiceClient(node, Trigger, f"arm_hardware/{name}", self._report, qos=GOAL)
            for name in _ARMING
        }
        self._scaling = node.create_publisher(
            SpeedScalingFactor, "arm_controller/speed_scaling_input", GOAL
        )
        node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED, event_callbacks=QUIET
        )
        hint = "Stops the arm at once (Space or Esc); it holds its position."
        button = gui.button("STOP", self.stop, color=RED, order=-2, hint=hint)
        command = gui.elements.add_command("STOP", description="Stops the arm", hotkey="escape")
        gui.on_user(command.on_trigger, self.stop)
        for element in (button, command):  # everyone who sees the arm can stop it
            gui.open_to_everyone(element)
        self._reset_button = gui.button(
            "Reset", self.reset, order=-1, hint="Allows motion again.", visible=False
        )
        self._arming_buttons = {
            name: gui.button(
                label,
                partial(self._call, self._arming[name]),
                order=-0.8,
                hint=hint,
                visible=False,
            )
            for name, (label, hint) in _ARMING.items()
        }
        self._speed = gui.elements.add_slider(
            "Speed [%]",
            min=0,
            max=100,
            step=1,
            initial_value=100,
            order=-0.5,
            hint="Of all motions: 100 as planned; 0 pauses them, and they continue above 0.",
            visible=False,  # until a driver reports its speed
        )
        self._speed_set = 0.0  # when a user set it last [s]
        gui.on_change(self._speed, self._set_speed)
        gui.never_too_late(self._speed, lambda percent: percent == 0)
        gui.offer_stop(self.stop)
        ids = f'data-button="{button._impl.uuid}" data-command="{command._impl.uuid}"'
        stop = f'<span data-arm="stop" {ids} hidden></span>'
        sticky = STICKY.format(button=button._impl.uuid)
        gui.elements.add_html(sticky + stop, order=99)  # for `browser/link.js`

    def follow(self, on_stop: Callable[[], None], on_reset: Callable[[], None]) -> None:
        """Also stop and reset the motions that the page itself makes."""
        self._on_stop, self._on_reset = on_stop, on_reset

    def stop(self) -> None:
        """Stop everything until a reset."""
        self._publisher.publish(Empty())
        self._on_stop()
        self._reset_button.visible = True

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        self._call(self._driver_reset)
        self._on_reset()
        self._reset_button.visible = False

    def _call(self, client: ServiceClient) -> None:
        client.call(Trigger.Request(), lambda response: self._report(response.message))

    def _set_speed(self, percent: float) -> None:
        self._speed_set = time.monotonic()
        self._scaling.publish(SpeedScalingFactor(factor=0.01 * percent))

    def _on_status(self, status: HardwareStatus) -> None:
        state = _STATES.get(status.state, str(status.state))
        self._report(f"{status.hardware}, {state}: {status.message}")
        failed = status.state == HardwareStatus.FAULT
        self._show_status("fault", status.message if failed else "")  # its row is cut off
        if status.state == HardwareStatus.STOPPED:
            self._reset_button.visible = True
        armed = status.state in (HardwareStatus.ARMED, HardwareStatus.MOVING)
        stopped = status.state == HardwareStatus.STOPPED
        self._arming_buttons["disarm"].visible = armed
        self._arming_buttons["arm"].visible = not (armed or stopped)
        self._speed.visible = True
        is_settled = time.monotonic() - self._speed_set > SPEED_HOLD
        if is_settled and 0.0 <= status.speed_scaling <= 1.0:  # anyone may publish any number
            self._speed.value = round(100.0 * status.speed_scaling)
