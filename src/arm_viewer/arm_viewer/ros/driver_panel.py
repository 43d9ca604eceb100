# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Buttons and the speed of a driver, below the stop button."""

from __future__ import annotations

import time
from functools import partial

from arm_common.ros.executor import QUIET
from arm_common.ros.qos import GOAL, LATCHED
from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus
from arm_viewer.port import ShownPage
from arm_viewer.ros.service_client import ServiceClient

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


class DriverPanel:
    """Arms and disarms the driver, sets the speed, and shows its state.

    Publishes arm_controller/speed_scaling_input; calls arm_hardware/arm and disarm; subscribes
    arm_hardware/status.

    Args:
        node: of the page.
        page: shows the state.
    """

    def __init__(self, node: Node, page: ShownPage) -> None:
        self._page, gui = page, page.gui
        self._report = partial(page.show_text, "driver")
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

    def _call(self, client: ServiceClient) -> None:
        client.call(lambda response: self._report(response.message))

    def _set_speed(self, percent: float) -> None:
        self._speed_set = time.monotonic()
        self._scaling.publish(SpeedScalingFactor(factor=0.01 * percent))

    def _on_status(self, status: HardwareStatus) -> None:
        state = _STATES.get(status.state, str(status.state))
        self._report(f"{status.hardware}, {state}: {status.message}")
        failed = status.state == HardwareStatus.FAULT
        self._page.show_text("fault", status.message if failed else "")  # its row is cut off
        if status.state == HardwareStatus.STOPPED:
            self._page.offer_reset()
        armed = status.state in (HardwareStatus.ARMED, HardwareStatus.MOVING)
        stopped = status.state == HardwareStatus.STOPPED
        self._arming_buttons["disarm"].visible = armed
        self._arming_buttons["arm"].visible = not (armed or stopped)
        self._speed.visible = True
        is_settled = time.monotonic() - self._speed_set > SPEED_HOLD
        if is_settled and 0.0 <= status.speed_scaling <= 1.0:  # anyone may publish any number
            self._speed.value = round(100.0 * status.speed_scaling)
