# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_motion_options.py
"""The gripper's width, and its grip force with a time limit.

A blocked servo pushes harder the farther its pulse is from its position, and eventually burns
out. Force is therefore requested in counts past the width of contact, limited, and reduced after a
time. Only a smart servo measures the grasp: jaws that rest short of their command, with a
load, hold something, and press from there on with the requested counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from arm_description.model.units import mm

from arm_hardware.calibration.axes import LIMIT_TOLERANCE, Axis, check_position
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.errors import GOAL_TOLERANCE_VIOLATED, CommandError
from arm_hardware.motion.execution import Execution, MeasuredState
from arm_hardware.motion.limiter import AxisState, brake, settled, track
from arm_hardware.motion.options import MotionOptions


@dataclass(frozen=True)
class GripperGoal:
    """The target of a gripper motion."""

    contact: float  # requested width [m]
    width: float  # commanded width [m]
    counts: int  # by which the commanded width is past the contact
    closing: bool  # whether the jaws close
    most: int  # counts by which they press at most on what they touch on the way


def plan_gripper_goal(
    axis: Axis, servo: ServoMap, most: int, width: float, counts: float, now: float
) -> GripperGoal:
    """Return the goal of a command; raise CommandError for a forbidden width or force.

    The command moves to a width [m], at which the jaws may touch an object, and presses ``counts``
    counts past it, at most ``most``; ``now`` is the present width [m]. Jaws that do not close to 0
    close as far as they can for a smaller width.
    """
    check_position(axis, max(width, axis.lower) if width >= -LIMIT_TOLERANCE else width)
    if not 0.0 <= counts <= most or counts != int(counts):
        raise CommandError(
            f"{axis.name}: max_effort {counts:g} is not a whole number of counts from 0 to "
            f"{most}, the parameter grip_force_limit_counts.",
            joint=axis.name,
        )
    width = min(max(width, axis.lower), axis.upper)
    pressed = pressed_width(servo, width, int(counts))
    if pressed < axis.lower - LIMIT_TOLERANCE or (counts and pressed >= width):
        raise CommandError(
            f"{axis.name}: {counts:g} counts past {mm(width, 1)} are beyond its closed end.",
            joint=axis.name,
        )
    closing = width < now or counts > 0
    return GripperGoal(width, max(pressed, axis.lower), int(counts), closing, most)


def pressed_width(servo: ServoMap, contact: float, counts: int) -> float:
    """Return the width [m] that is ``counts`` counts past a contact in the closing direction."""
    if counts == 0:
        return contact
    at = servo.count_of(contact)
    closing = 1 if servo.position_of(at + 1) < servo.position_of(at - 1) else -1
    return servo.position_of(at + closing * counts)


STALL_TIME = 0.2  # [s] at rest short of the command that show a contact
STALL_SPEED = 1e-3  # [m/s] below which jaws are at rest
STALL_LOAD = 0.05  # share of the motor's voltage above which it pushes against something
IDLE_TIME = 2.0  # [s] at rest short of the command without pushing after which a goal is aborted
IDLE = (
    "The jaws rest at {:.1f} mm, short of their command, without pushing: check the servo's "
    "torque limit."
)
SHORT = 3  # counts from the command within which jaws have arrived


class GripperExecution(Execution):
    """A gripper motion being executed, starting with the next tick."""

    def __init__(
        self, axis: Axis, grip: GripperGoal, servo: ServoMap, scaled: bool = True
    ) -> None:
        """Create the execution; unless ``scaled`` it ignores the speed scaling."""
        super().__init__()
        self.grip = grip
        self._axis = axis
        self._servo = servo
        self._scaled = scaled
        self._measured: float | None = None  # width [m]
        self._stalled = 0.0  # [s]

    def advance(
        self,
        state: AxisState,
        dt: float,
        factor: float = 1.0,
        measured: MeasuredState | None = None,
    ) -> bool:
        """Advance the state by one tick at a speed scaling; return whether the motion is over.

        With what is ``measured``, it is over once the jaws have arrived or are held up.
        """
        if measured is not None and not self.canceled:
            self._detect_contact(state, measured, dt)
        if self.canceled:
            brake(self._axis, state, dt)
            return state.velocity == 0.0
        width, speed = self.grip.width, self._axis.velocity
        slowed = replace(self._axis, velocity=speed * factor) if self._scaled else self._axis
        track(slowed, state, width, width, dt, width)
        return settled(state, width) and (self._has_arrived(width) or self.goal.stalled)

    def _has_arrived(self, width: float) -> bool:
        """Return whether the jaws are at a width, as far as that is measured."""
        return self._measured is None or abs(width - self._measured) <= self._counts(SHORT)

    def _counts(self, number: int) -> float:
        """Return the width of some counts of the servo [m]."""
        at = self._servo.count_of(self.grip.contact)
        return number * max(resolution(self._servo, at), resolution(self._servo, None))

    def _detect_contact(self, state: AxisState, measured: MeasuredState, dt: float) -> None:
        """Press on an object with the requested counts where it stops the jaws."""
        self._measured = width = measured.positions[-1]
        resting = abs(measured.velocities[-1]) < STALL_SPEED
        held = resting and not self._has_arrived(state.position)
        self._stalled = self._stalled + dt if held else 0.0
        if self._stalled < STALL_TIME or self.goal.stalled:
            return
        if abs(measured.loads[-1]) < STALL_LOAD:
            if self._stalled > IDLE_TIME:
                reason = IDLE.format(width * 1e3)
                self.goal.abort(GOAL_TOLERANCE_VIOLATED, reason)
                self.cancel()
            return
        self.goal.stalled = True
        counts = min(max(self.grip.counts, SHORT + 1), self.grip.most)
        inside = min(max(width, self._axis.lower), self._axis.upper)
        pressed = max(pressed_width(self._servo, inside, counts), self._axis.lower)
        if not self.grip.closing:
            pressed = inside  # something keeps the jaws from opening: do not push
        self.grip = replace(self.grip, contact=inside, width=pressed, counts=counts)

    def _messages(self) -> tuple[str, str]:
        grip, width = self.grip, mm(self.grip.contact, 1)
        if self._measured is not None:
            at = mm(self._measured, 1)
            done = f"Reached {at}; nothing is in the jaws."
            if self.goal.stalled:
                done = f"Grasped an object at {at}." if grip.closing else f"Held up at {at}."
            return done, f"Canceled; the gripper holds {at}."
        if grip.counts:
            width = f"{width} and {grip.counts} counts past it"
        done = f"Commanded open to {width}; not measured."
        if grip.closing or grip.counts:
            done = f"Commanded closed to {width}; grasp not measured."
        return done, "Canceled; the gripper holds its width."


class GripTimer:
    """Reduces the grip force after a time."""

    def __init__(self, options: MotionOptions) -> None:
        self._after, self._left = options.gripper_hold_time, options.gripper_hold_squeeze
        self._grip: GripperGoal | None = None
        self._time = 0.0

    def begin(self, grip: GripperGoal) -> None:
        """Start the timer if an arrived gripper presses."""
        self._grip = grip if grip.counts > self._left and self._after > 0.0 else None
        self._time = 0.0

    def end(self) -> None:
        """Stop the timer, because the gripper moves elsewhere."""
        self._grip = None

    def tick(self, servo: ServoMap, dt: float) -> GripperGoal | None:
        """Advance by a tick; return the goal that reduces the force once the time is over."""
        if self._grip is None:
            return None
        self._time += dt
        if self._time < self._after:
            return None
        grip, self._grip = self._grip, None
        width = pressed_width(servo, grip.contact, self._left)
        return GripperGoal(grip.contact, width, self._left, True, self._left)
