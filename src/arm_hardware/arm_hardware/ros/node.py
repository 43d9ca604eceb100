# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node of the servo driver."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_description import DescriptionError, load_robot
from arm_hardware.clock import SteadyClock
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError, StateError
from arm_hardware.ros.controllers import GripperServer, TrajectoryServer
from arm_hardware.ros.driver_context import DriverContext, DriverTime
from arm_hardware.ros.parameters import driver_parameters
from arm_hardware.ros.state_publisher import DriverStatePublisher

# mypy: disable-error-code="no-untyped-call, attr-defined"


EMERGENCY_STOP = "arm_hardware/emergency_stop"
DEPRECATED_STOP = "arm_hardware/stop_now"  # its previous name, kept for one version
GOALS_END_WITHIN = 3.0  # [s] of wall time for aborted goals to return their results

_STOPPED = "Stopped; holding until reset."
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class HardwareNode(LifecycleNode):  # type: ignore[misc]
    """Translates between ROS and the driver, which exists from configure to cleanup."""

    def __init__(self) -> None:
        """Declare parameters and interfaces; touch no hardware."""
        super().__init__("arm_hardware")
        self.parameters = driver_parameters(self)
        self.signals: Callable[[], int] = lambda: 0  # returns the number received so far
        self._driver_clock = SteadyClock(self.parameters.options.speed)
        time_of = DriverTime(self.get_clock(), self._driver_clock)
        self._shared = context = DriverContext(self.parameters, time_of)
        self._publisher = DriverStatePublisher(self, context)
        publish_now = partial(self._publisher.publish, everything=True)
        self._trajectory = TrajectoryServer(self, context, publish_now)
        self._gripper = GripperServer(self, context, publish_now)
        group = MutuallyExclusiveCallbackGroup()
        self.create_service(Trigger, "~/stop", self._on_stop, callback_group=group)
        now = QoSProfile(depth=1)
        for topic in (EMERGENCY_STOP, DEPRECATED_STOP):
            self.create_subscription(
                Empty, topic, self._on_emergency_stop, now, callback_group=group
            )
        self.create_service(Trigger, "~/reset", self._on_reset, callback_group=group)
        self._publisher.start()

    # -- Lifecycle --------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load robot and calibration, open the bus, read the registers; send no pulses."""
        try:
            model = load_robot(self.parameters.robot)
            driver = Driver(model, self.parameters.options, self._driver_clock)
            driver.controller.changed = self._publisher.wake
            driver.controller.moved = self._publisher.tick
            driver.open()
        except (HardwareError, DescriptionError) as error:
            return self._failed("configure", error)
        self._shared.driver = driver
        self._publisher.wake()
        self.get_logger().info(
            f"Configured {self.parameters.options.hardware} hardware of {model.name}."
        )
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start arming; the status shows when motion is accepted."""
        driver = self._shared.driver  # read once: another thread may end the driver meanwhile
        try:
            if driver is None:
                raise StateError("The driver is not configured.")
            driver.begin_arming()
        except HardwareError as error:
            return self._failed("activate", error)
        self.get_logger().info(driver.controller.snapshot().message)
        return super().on_activate(state)

    def _failed(self, transition: str, error: Exception) -> TransitionCallbackReturn:
        self.get_logger().error(str(error))
        self._shared.last_rejection = f"{transition}: {error}"
        return FAILURE

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Abort goals and hold."""
        self._shared.controller().disarm("deactivated.")
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the servos and close the bus."""
        self.end_driver("release")
        self._publisher.wake()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Carry out the configured exit action."""
        self.end_driver()
        return SUCCESS

    on_error = on_shutdown

    def autostart(self) -> bool:
        """Trigger the configured transitions; return whether they succeeded."""
        last = self.parameters.first_transition
        if last == "none":
            return True
        if self.trigger_configure() != SUCCESS:
            return False
        return last == "configure" or self.trigger_activate() == SUCCESS

    def end_driver(self, action: str = "") -> None:
        """Abort goals and carry out an exit action, by default the configured one.

        The stop still works meanwhile; another signal cuts parking short.
        """
        driver, before = self._shared.driver, self.signals()
        if driver is not None:
            driver.close(action, lambda: self.signals() > before)
            self._shared.driver = None

    def close(self) -> None:
        """End the driver, wait for goals to return their results, and publish a last time."""
        self.end_driver()
        deadline = time.monotonic() + GOALS_END_WITHIN
        while (self._trajectory.busy or self._gripper.busy) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._publisher.close()

    # -- Services ---------------------------------------------------------------------------------

    def _on_emergency_stop(self, _: Empty) -> None:
        try:
            self._shared.controller().stop(f"a message arrived on {EMERGENCY_STOP}")
            self.get_logger().warning(_STOPPED)
        except HardwareError as error:
            self._shared.refuse(EMERGENCY_STOP, error)

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._shared.controller().stop()
            response.success, response.message = True, _STOPPED
        except HardwareError as error:
            response.success, response.message = False, str(error)
        self.get_logger().warning(response.message)
        return response

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.success, response.message = True, self._shared.controller().reset()
        except HardwareError as error:
            response.success, response.message = False, str(error)
        self.get_logger().info(response.message)
        return response
