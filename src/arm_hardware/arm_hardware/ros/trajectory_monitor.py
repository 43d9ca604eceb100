# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Speed scaling and state of the arm_controller, as joint_trajectory_controller has them."""

from __future__ import annotations

from typing import TypeVar

from arm_common.ros.qos import CALLS
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from arm_hardware.control.state_machine import Tracking
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError
from arm_hardware.motion.speed_scaling import check_speed_scaling
from arm_hardware.ros import driver_messages
from arm_hardware.ros.driver_context import DriverContext

# mypy: disable-error-code="no-untyped-call, attr-defined"

_SCALING = "arm_controller/speed_scaling_input"
_QUERY = "arm_controller/query_state"
_Response = TypeVar("_Response", bound=QueryTrajectoryState.Response)


class TrajectoryMonitor:
    """Offers speed_scaling_input, query_state and controller_state of the arm_controller."""

    def __init__(self, node: Node, context: DriverContext) -> None:
        self._context = context
        self._publisher = node.create_publisher(
            JointTrajectoryControllerState, "arm_controller/controller_state", 10
        )
        group = MutuallyExclusiveCallbackGroup()
        # Not latched: a factor from before this driver's start must not replace its initial one.
        node.create_subscription(
            SpeedScalingFactor, _SCALING, self._on_scaling, 10, callback_group=group
        )
        node.create_service(
            QueryTrajectoryState, _QUERY, self._on_query, callback_group=group, qos_profile=CALLS
        )

    def tracking(self, driver: Driver) -> Tracking | None:
        """Return what controller_state reports, None if nothing subscribes to it."""
        subscribed = self._publisher.get_subscription_count() > 0
        return driver.controller.tracking() if subscribed else None

    def publish(self, driver: Driver, tracking: Tracking, stamp: Time) -> None:
        """Publish controller_state."""
        self._publisher.publish(driver_messages.controller_state(driver.axes, tracking, stamp))

    def _on_scaling(self, message: SpeedScalingFactor) -> None:
        """Set the speed scaling; without a driver, of the next one."""
        try:
            check_speed_scaling(message.factor)
            self._context.speed_scaling = message.factor
            if self._context.driver is not None:
                self._context.controller().set_speed_scaling(message.factor)
        except HardwareError as error:
            self._context.refuse(_SCALING, error)
        except Exception as error:  # noqa: BLE001 - no message ends the process
            self._context.fail(_SCALING, error)

    def _on_query(self, request: QueryTrajectoryState.Request, response: _Response) -> _Response:
        """Return the executed state of the running trajectory at a time, 0 for now."""
        try:
            controller = self._context.controller()
            state = controller.state_at(self._context.time.moment_of(request.time))
            response.name = list(controller.axes.names)
            response.position = state.positions
            response.velocity = state.velocities
            response.acceleration = state.accelerations
            response.success = True
        except HardwareError as error:
            response.message = str(error)
        except Exception as error:  # noqa: BLE001 - no request ends the process
            response.message = self._context.fail(_QUERY, error)
        return response
