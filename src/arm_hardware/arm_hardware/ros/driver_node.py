# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/ros/test_node.py
"""The lifecycle node of the servo driver, which answers every request for a transition.

rclpy hands a transition that the present state does not allow to rcl, whose error would leave the
service's callback. It turns an exception of a transition into ``on_error``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeAlias

from arm_common.errors import InputError
from arm_common.ros.parameters import declare
from arm_common.ros.qos import CALLS, STEADY_CLOCK
from arm_description.library import load_robot
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from rclpy.service import Service
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_hardware.clock import driver_clock
from arm_hardware.control.snapshot import UNCONFIGURED
from arm_hardware.driver import Driver
from arm_hardware.errors import ARM, HardwareError, StateError
from arm_hardware.ros.controllers import GripperServer, TrajectoryMonitor, TrajectoryServer
from arm_hardware.ros.driver_context import DriverContext, DriverTime
from arm_hardware.ros.parameters import (
    Constraints,
    SpeedScalingParameters,
    driver_parameters,
)
from arm_hardware.ros.state_publisher import DriverStatePublisher
from arm_interfaces.srv import Rehearse

# mypy: disable-error-code="no-untyped-call, attr-defined"


_LOGGER = logging.getLogger(__name__)
EMERGENCY_STOP = "arm_hardware/emergency_stop"
_LOOK_FOR_OTHERS = 3.0  # [s] of wall time
_TWO_DRIVERS = (
    "Another driver with the same names is in this ROS domain, or was killed in the last 20 s: "
    "every command reaches both. End one of them, or give it a namespace (--namespace)."
)
GOALS_END_WITHIN = 3.0  # [s] of wall time for aborted goals to return their results

_STOPPED = "Stopped; holding until reset."
AUTOSTART = {"none": (), "configure": ("configure",), "activate": ("configure", "activate")}
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


_Act: TypeAlias = Callable[[Any], str]  # carries out a request; returns a sentence about it
_Callback: TypeAlias = Callable[[ChangeState.Request, ChangeState.Response], ChangeState.Response]
_Transition: TypeAlias = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def _transition(change: _Transition) -> _Transition:
    """Return a lifecycle callback that fails, and holds, where the given one raises."""

    @wraps(change)
    def guarded(node: HardwareNode, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return change(node, state)
        except (HardwareError, InputError) as error:
            node._shared.refuse(change.__name__.removeprefix("on_"), error)
        except Exception as error:  # noqa: BLE001 - rclpy would drop the exception
            node._shared.fail(change.__name__.removeprefix("on_"), error)
        return FAILURE

    return guarded


class HardwareNode(LifecycleNode):  # type: ignore[misc]
    """Translates between ROS and the driver, which exists from configure to cleanup.

    Transitions come one at a time and only where they are possible.
    """

    def __init__(self) -> None:
        """Declare parameters and interfaces; touch no hardware."""
        super().__init__("arm_hardware")
        self._transitions = threading.RLock()  # held during a transition
        change = self._lifecycle_service("change_state")
        self._change: _Callback = change.callback
        change.callback = self._on_change_state
        self.parameters = driver_parameters(self)
        self.signals: Callable[[], int] = lambda: 0  # returns the number received so far
        options = self.parameters.options
        self._driver_clock = driver_clock(options.speed, options.sim_pace)
        time_of = DriverTime(self.get_clock(), self._driver_clock)
        scaling = declare(self, SpeedScalingParameters, "speed_scaling.").initial_scaling_factor
        self._shared = context = DriverContext(
            self.parameters, time_of, Constraints(self), scaling
        )
        self._publisher = DriverStatePublisher(self, context, TrajectoryMonitor(self, context))
        publish_now = partial(self._publisher.publish, everything=True)
        self._trajectory = TrajectoryServer(self, context, publish_now)
        self._gripper = GripperServer(self, context, publish_now)
        group = MutuallyExclusiveCallbackGroup()
        for kind, name, act, level in (
            (Trigger, "stop", self._stop, logging.WARNING),
            (Trigger, "reset", self._reset, logging.INFO),
            (Trigger, "release", self._release, logging.WARNING),
            (Rehearse, "rehearse", self._rehearse, logging.INFO),
        ):
            self._serve(kind, name, act, level, group)
        now = QoSProfile(depth=1)
        self.create_subscription(
            Empty, EMERGENCY_STOP, self._on_emergency_stop, now, callback_group=group
        )
        # In the group of the transitions: a stop must not wait for a slow bus.
        self._serve(Trigger, "arm", self._arm)
        self._serve(Trigger, "disarm", self._disarm)
        self._sees_another_driver = False
        self.create_timer(_LOOK_FOR_OTHERS, self._look_for_others, clock=STEADY_CLOCK)
        self._publisher.start()

    def _look_for_others(self) -> None:
        """Warn once of another driver, as soon as one appears."""
        before, now = self._sees_another_driver, self.count_publishers("~/status") > 1
        self._sees_another_driver = now
        if now and not before:
            self.get_logger().warning(_TWO_DRIVERS)

    # -- Lifecycle --------------------------------------------------------------------------------

    @_transition
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load robot and calibration, open the bus, read the registers; send no pulses."""
        model = load_robot(self.parameters.robot)
        driver = Driver(model, self.parameters.options, self._driver_clock)
        self._shared.constraints.declare_joints(driver.axes.arm, driver.bus.measures)
        driver.controller.set_speed_scaling(self._shared.speed_scaling)
        driver.controller.changed = self._publisher.wake
        driver.controller.moved = self._publisher.tick
        driver.open()
        self._publisher.publish_limits(driver)
        self._shared.driver = driver
        self._publisher.wake()
        self.get_logger().info(
            f"Configured {self.parameters.options.hardware} hardware of {model.name}."
        )
        return SUCCESS

    @_transition
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start arming; the status shows when motion is accepted."""
        driver = self._shared.driver  # read once: another thread may end the driver meanwhile
        if driver is None:
            raise StateError("The driver is not configured.")
        driver.begin_arming()
        self.get_logger().info(driver.controller.snapshot().message)
        return super().on_activate(state)

    @_transition
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Abort goals and hold."""
        self._shared.controller().disarm()
        return super().on_deactivate(state)

    @_transition
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the servos and close the bus."""
        self.end_driver("release")
        self._publisher.wake()
        return SUCCESS

    @_transition
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Carry out the configured exit action."""
        self.end_driver()
        return SUCCESS

    @_transition
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the driver after an error within a transition; the servos keep their pulses."""
        self.end_driver("hold")
        return SUCCESS

    def autostart(self) -> bool:
        """Trigger the configured transitions; return whether they succeeded."""
        return self.reach(*AUTOSTART[self.parameters.first_transition])

    def on_failed_callback(self, reason: str, error: Exception) -> None:
        """Stop the arm: no exception of a callback leaves it moving."""
        del reason
        self._shared.fail("a callback", error)

    def reach(self, *labels: str) -> bool:
        """Make transitions in turn, skipping impossible ones; return whether none failed."""
        with self._transitions:
            for label in labels:
                request = ChangeState.Request()
                request.transition.label = label
                if label in self._possible().values() and not self._make(request):
                    return False
        return True

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        response.success = False
        with self._transitions:
            try:
                self._require_possible(request)
                response.success = self._make(request)
            except HardwareError as error:
                self._shared.refuse("change_state", error)
            except Exception as error:  # noqa: BLE001 - no request ends the process
                self._shared.fail("change_state", error)
        return response

    def _make(self, request: ChangeState.Request) -> bool:
        return bool(self._change(request, ChangeState.Response()).success)

    def _require_possible(self, request: ChangeState.Request) -> None:
        """Raise StateError for a transition that the present state does not allow."""
        possible, wanted = self._possible(), request.transition
        if wanted.label in possible.values() if wanted.label else wanted.id in possible:
            return
        names = ", ".join(possible.values()) or "none"
        raise StateError(
            f"Transition {wanted.label or wanted.id} is not possible in state {self._label()}; "
            f"possible: {names}."
        )

    def _possible(self) -> dict[int, str]:
        """Return ids and labels of the transitions that the present state allows."""
        answer = self._lifecycle_service("get_available_transitions").callback(
            GetAvailableTransitions.Request(), GetAvailableTransitions.Response()
        )
        return {t.transition.id: t.transition.label for t in answer.available_transitions}

    def _label(self) -> str:
        service = self._lifecycle_service("get_state")
        return str(service.callback(GetState.Request(), GetState.Response()).current_state.label)

    def _lifecycle_service(self, name: str) -> Service:
        full = f"{self.get_fully_qualified_name()}/{name}"
        return next(service for service in self.services if service.service_name == full)

    def end_driver(self, action: str = "") -> None:
        """Abort goals and carry out an exit action, by default the configured one.

        The stop still works meanwhile; another signal cuts parking short.
        """
        driver, before = self._shared.driver, self.signals()
        if driver is not None:
            self._shared.speed_scaling = driver.controller.speed_scaling
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

    def _serve(
        self,
        kind: type,
        name: str,
        act: _Act,
        level: int = logging.DEBUG,
        group: MutuallyExclusiveCallbackGroup | None = None,
    ) -> None:
        """Offer a service that does something and logs its answer at a level."""
        answer = partial(self._answer, name, act, level)
        self.create_service(kind, f"~/{name}", answer, callback_group=group, qos_profile=CALLS)

    def _rehearse(self, request: Rehearse.Request) -> str:
        self._shared.controller()  # raises if the driver is not configured
        driver = self._shared.driver
        if driver is None or driver.rehearsal is None:
            raise StateError(
                "Only simulated servos fail on request: start the driver with hardware sim."
            )
        return driver.rehearsal.happen(request.event, request.servo, request.value)

    def _arm(self, _: Trigger.Request) -> str:
        """Arm, also again after a fault; the status shows when motion is accepted."""
        if self._shared.driver is not None:
            controller = self._shared.controller()
            if not controller.can_arm():
                return controller.snapshot().message
        if not self.reach("configure", "deactivate", "activate"):
            raise StateError(f"Not armed: {self._shared.last_rejection or 'see the log.'}")
        return self._shared.controller().snapshot().message

    def _disarm(self, _: Trigger.Request) -> str:
        """End all goals; the servos hold where they are."""
        if not self.reach("deactivate"):
            raise StateError(f"Not disarmed: {self._shared.last_rejection or 'see the log.'}")
        driver = self._shared.driver
        return (driver.controller.snapshot() if driver else UNCONFIGURED).message

    def _release(self, _: Trigger.Request) -> str:
        """Switch the servos off; hold the arm by hand before, as it sinks."""
        self._shared.controller().release("the service release was called.")
        return f"The servos are released; to arm again, run {ARM}."

    def _reset(self, _: Trigger.Request) -> str:
        return self._shared.controller().reset()

    def _stop(self, _: Trigger.Request) -> str:
        self._shared.controller().stop()
        return _STOPPED

    def _answer(self, name: str, act: _Act, level: int, request: Any, response: Any) -> Any:
        """Answer a request with the sentence of what was done, or with why it was not."""
        try:
            response.success, response.message = True, act(request)
        except HardwareError as error:
            response.success, response.message = False, str(error)
        except Exception as error:  # noqa: BLE001 - no request ends the process
            response.success, response.message = False, self._shared.fail(name, error)
        _LOGGER.log(level, "%s", response.message)
        return response
