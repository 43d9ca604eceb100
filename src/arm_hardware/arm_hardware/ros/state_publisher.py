# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes joint_states, status, goal, diagnostics and /clock from its own thread.

It publishes every tick of a motion, and rarely at rest.
"""

from __future__ import annotations

import logging
import threading
import time

from arm_common.ros.qos import LATCHED
from arm_description.urdf.servo_limits import TOPIC, limits_text
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_hardware.control.snapshot import UNCONFIGURED, DriverSnapshot, DriverState, Tracking
from arm_hardware.driver import Driver
from arm_hardware.ros import driver_messages
from arm_hardware.ros.controllers import TrajectoryMonitor
from arm_hardware.ros.driver_context import DriverContext
from arm_interfaces.msg import HardwareStatus

# mypy: disable-error-code="no-untyped-call, attr-defined"

EARLY_TOLERANCE = 0.001  # [s] by which a thread may wake too early
FASTEST = 0.01  # [s] of wall time between joint_states, however fast simulated time runs
CLOCK_PERIOD = 0.02  # [s] of wall time between /clock messages
SLOW_PERIOD = 1.0  # [s] of wall time between diagnostics, and between unchanged status messages


class RateLimiter:
    """Due times a period [s] apart, which restart after a delay of more than one period."""

    def __init__(self, period: float) -> None:
        self.period = period
        self.due = 0.0  # the next moment [s]

    def is_due(self, now: float) -> bool:
        """Return whether the due time has come; if so, schedule the next one."""
        left = self.due - now
        if EARLY_TOLERANCE < left <= self.period + EARLY_TOLERANCE:
            return False
        self.due = (self.due if abs(left) <= self.period else now) + self.period
        return True

    def postpone(self, now: float) -> None:
        """Let nothing be due for a period."""
        self.due = now + self.period


_LOGGER = logging.getLogger(__name__)
REMOVED_STOP = "arm_hardware/stop_now"
REMOVED_STOP_TEXT = (
    f"A program publishes on {REMOVED_STOP}, which stops nothing: let it publish on"
    " arm_hardware/emergency_stop."
)
LEVELS = {
    DriverState.FAULT: DiagnosticStatus.ERROR,
    DriverState.STOPPED: DiagnosticStatus.WARN,
    DriverState.UNKNOWN: DiagnosticStatus.WARN,
}


def diagnostics(
    name: str, context: DriverContext, snapshot: DriverSnapshot, stamp: Time
) -> DiagnosticArray:
    """Return state, hardware, loop lateness, retried transfers and a node's last rejection."""
    status = DiagnosticStatus(
        level=LEVELS.get(snapshot.state, DiagnosticStatus.OK),
        name=f"{name}: servo driver",
        hardware_id=context.robot,
        message=f"{snapshot.state.name}: {snapshot.message}",
    )
    values = {
        "hardware": context.parameters.options.hardware,
        "last refusal": context.last_rejection or "none",
    }
    driver = context.driver  # read once: another thread may end the driver meanwhile
    if driver is not None:
        values |= _driver_values(driver) | _servo_values(driver, snapshot)
        warm = driver.controller.warnings()
        if warm and status.level == DiagnosticStatus.OK:
            status.level = DiagnosticStatus.WARN
            status.message += f" {'; '.join(warm)}."
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp
    return message


def _driver_values(driver: Driver) -> dict[str, str]:
    """Return loop lateness, and counts of writes and of repeated transfers."""
    late, bus = driver.loop.lateness(), driver.output.bus
    lateness = (f"{1e3 * x:.2f}" for x in (late.median, late.p99, late.worst))
    return {
        "calibration": str(driver.calibration.path) if driver.calibration else "none needed",
        "period [ms]": f"{driver.period * 1e3:.2f}",
        "ticks": str(late.ticks),
        "lateness median, p99, worst [ms]": ", ".join(lateness),
        "schedule slips": str(late.slips),
        "stalls": str(late.stalls),
        "scheduling of the loop": driver.loop.scheduling,
        "channels written": str(driver.output.writes),
        "transfers repeated": str(bus.faults),
        "corrupted writes, reads": f"{bus.rewrites}, {bus.misreads}",
        "unexplained changes put back": str(driver.output.monitor.unexplained),
    }


def _servo_values(driver: Driver, snapshot: DriverSnapshot) -> dict[str, str]:
    """Return what smart servos measure, besides their positions."""
    if snapshot.measured is None:
        return {}
    return {
        f"{axis.name}: temperature, supply, load, current": f"{servo.temperature:.0f} deg C, "
        f"{servo.voltage:.1f} V, {100.0 * servo.load:.0f} %, {servo.current:.2f} A"
        for axis, servo in zip(driver.axes.actuators, snapshot.measured.servos, strict=True)
    }


def _snapshot(driver: Driver | None) -> DriverSnapshot:
    return driver.controller.snapshot() if driver else UNCONFIGURED


class ClockPublisher:
    """Publishes /clock, unless a node whose name sorts before that of its own does.

    Thus one of several drivers publishes it: interleaved messages would step the time backwards.
    The first one is due after a period, in which the drivers find each other.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._name = node, node.get_fully_qualified_name()
        self._publisher = node.create_publisher(Clock, "/clock", 10)
        self._is_first = False
        self._search = RateLimiter(SLOW_PERIOD)
        self._search.postpone(time.monotonic())

    def publish(self, stamp: Time, now: float) -> None:
        """Publish a time; ``now`` is the wall's [s]."""
        if self._search.is_due(now):
            found = self._node.get_publishers_info_by_topic("/clock")
            names = [f"{n.node_namespace.rstrip('/')}/{n.node_name}" for n in found]
            self._is_first = min(names, default=self._name) >= self._name
        if self._is_first:
            self._publisher.publish(Clock(clock=stamp))


class DriverStatePublisher:
    """Publishes the state of a node's driver."""

    def __init__(self, node: Node, context: DriverContext, monitor: TrajectoryMonitor) -> None:
        self._node, self._name = node, node.get_fully_qualified_name()
        self._had_removed_stop = False
        self._monitor = monitor
        self._context = context
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._status = node.create_publisher(HardwareStatus, "~/status", LATCHED)
        self._goal = node.create_publisher(JointState, "arm_controller/goal", LATCHED)
        self._limits = node.create_publisher(String, TOPIC, LATCHED)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        has_clock = context.time.simulated and context.parameters.publish_clock
        self._clock = ClockPublisher(node) if has_clock else None
        self._lock = threading.Lock()
        # Of the driver's clock; the others are of the wall.
        self._moving = RateLimiter(1.0 / context.parameters.joint_state_rate_hz)
        self._rest_period = 1.0 / context.parameters.joint_state_rest_rate_hz
        self._resting, self._slow = RateLimiter(self._rest_period), RateLimiter(SLOW_PERIOD)
        self._status_limiter = RateLimiter(SLOW_PERIOD)
        self._clock_limiter = RateLimiter(CLOCK_PERIOD)
        self._ticks = RateLimiter(FASTEST)
        self._last_tick: float | None = None
        self._last_stamp = Time()
        self._limiters = [self._resting, self._status_limiter, self._slow]
        if self._clock:
            self._limiters.append(self._clock_limiter)
        self._last_status: tuple[DriverState, str, float] | None = None
        self._goal_positions: tuple[float, ...] = ()
        self.woken = threading.Event()  # set when the thread is to publish
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="arm_reporter", daemon=True)

    def start(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def publish_limits(self, driver: Driver) -> None:
        """Publish the limits of a robot as its servos narrow them."""
        prefix = self._context.parameters.options.prefix
        self._limits.publish(String(data=limits_text(driver.limited, prefix)))

    def wake(self) -> None:
        """Request publication; cheap, callable from any thread."""
        self.woken.set()

    def tick(self) -> None:
        """Request publication after a tick of a motion, unless ticks are too frequent."""
        if self._ticks.is_due(time.monotonic()):
            self.woken.set()

    def close(self) -> None:
        """Publish a last time and end."""
        self._closing = True
        self.woken.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def publish(self, everything: bool = False) -> None:
        """Publish what is due, or with ``everything`` all but the diagnostics."""
        with self._lock:
            now = time.monotonic()
            driver = self._context.driver
            # Of the same tick as joint_states: the next one may come before these are published.
            tracking = self._monitor.tracking(driver) if driver else None
            snapshot = tracking.snapshot if tracking else _snapshot(driver)
            stamp = self._context.time.now()
            if self._clock and (self._clock_limiter.is_due(now) or everything):
                self._clock.publish(stamp, now)
            status = (snapshot.state, snapshot.message, snapshot.speed_scaling)
            changed = everything or status != self._last_status
            if self._state_is_due(snapshot, now) or changed:
                self._publish_state(driver, snapshot, tracking)
                self._resting.postpone(now)
            if driver and snapshot.goal_positions != self._goal_positions:
                self._goal.publish(driver_messages.goal(driver.axes, snapshot, stamp))
                self._goal_positions = snapshot.goal_positions
            if self._status_limiter.is_due(now) or changed:
                hardware = self._context.parameters.options.hardware
                self._status.publish(driver_messages.status(hardware, driver, snapshot, stamp))
                self._last_status = status
            if self._slow.is_due(now):
                self._context.refusals.log_repeated()
                message = diagnostics(self._name, self._context, snapshot, stamp)
                self._report_removed_stop(message.status[0])
                self._diagnostics.publish(message)

    def _report_removed_stop(self, status: DiagnosticStatus) -> None:
        """Report a button that stops nothing, as its topic has another name now."""
        has_publisher = self._node.count_publishers(REMOVED_STOP) > 0
        if has_publisher:
            status.level = DiagnosticStatus.ERROR
            status.message = f"{REMOVED_STOP_TEXT} {status.message}"
        if has_publisher and not self._had_removed_stop:
            _LOGGER.error(REMOVED_STOP_TEXT)
        self._had_removed_stop = has_publisher

    def _state_is_due(self, snapshot: DriverSnapshot, now: float) -> bool:
        """Return whether joint_states are due: every tick in motion, otherwise rarely."""
        moment, measured = snapshot.moment, snapshot.measured
        moving = snapshot.state is DriverState.MOVING or (
            measured is not None and measured.moving  # by hand, too
        )
        if moving and moment is not None and moment != self._last_tick:
            self._resting.postpone(now)
            return self._moving.is_due(moment)
        return now >= self._resting.due

    def _publish_state(
        self, driver: Driver | None, snapshot: DriverSnapshot, tracking: Tracking | None
    ) -> None:
        """Publish joint_states and controller_state, stamped with the time of their tick."""
        moment, time_of = snapshot.moment, self._context.time
        if moment is None or moment != self._last_tick:
            self._last_stamp = time_of.now() if moment is None else time_of.at(moment)
            self._last_tick = moment
        if driver is None:
            return
        state = driver_messages.joint_state(driver.axes, snapshot, self._last_stamp)
        if state is not None:
            self._states.publish(state)
        if tracking is not None:
            self._monitor.publish(driver, tracking, self._last_stamp)

    def time_to_next(self, now: float) -> float:
        """Return the wall time until something is due regardless of ticks [s]."""
        return min(self._rest_period, min(limiter.due for limiter in self._limiters) - now)

    def _run(self) -> None:
        while True:
            self.woken.wait(max(0.0, self.time_to_next(time.monotonic())))
            self.woken.clear()
            try:
                self.publish()
            except Exception as error:  # noqa: BLE001 - the thread reports until the end
                self._context.fail("publishing the state", error)
                time.sleep(0.0 if self._closing else SLOW_PERIOD)
            if self._closing:
                return
