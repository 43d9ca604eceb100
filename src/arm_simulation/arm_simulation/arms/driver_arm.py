# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The servo driver without ROS as an arm that the engine can move, in lock-step.

With an emulated chip, its pulses drive an arm in contact physics, which sees nothing else of the
driver. Equal plans and errors give equal runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from arm_description.robot_model import RobotModel
from arm_hardware.clock import SteadyClock
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import TOLERANCES_VIOLATED, HardwareError
from arm_hardware.motion.execution import Goal, GoalOutcome
from arm_hardware.motion.goal_validation import (
    GoalPoint,
    Tolerances,
    TrajectoryGoal,
    measured_tolerances,
    validate_goal,
)
from arm_hardware.motion.options import DriverOptions
from arm_tasks.execution.engine import Engine, Feedback, TaskOutcome
from arm_tasks.execution.ports import EndedMove, Move, MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedTrajectory, TaskPlan
from arm_tasks.scene.scene import Scene
from arm_tasks.task.condition import Observation
from arm_tasks.task.request import ArmConfiguration

from arm_simulation.contact.servos import ServoErrors
from arm_simulation.contact.world import ContactWorld, NutTruth
from arm_simulation.emulation.board import SimulatedBoard

_SETTLING = 25  # frames in contact physics after arming and at the end
_STATES = {
    GoalOutcome.SUCCEEDED: MoveState.SUCCEEDED,
    GoalOutcome.CANCELED: MoveState.CANCELED,
}


class _DriverMove:
    """A goal of the driver."""

    def __init__(self, goal: Goal, cancel: Callable[[Goal], None]) -> None:
        self._goal = goal
        self._cancel = cancel

    def poll(self) -> MoveStatus:
        if not self._goal.done or self._goal.outcome is None:
            return MoveStatus(MoveState.RUNNING)
        failed = self._goal.code in TOLERANCES_VIOLATED
        other = MoveState.FAILED if failed else MoveState.STOPPED
        return MoveStatus(_STATES.get(self._goal.outcome, other), self._goal.message)

    def cancel(self) -> None:
        self._cancel(self._goal)


class DriverArm:
    """An ArmPort: a driver whose control loop does not run; step() makes its ticks.

    Attributes:
        driver: The driver.
        time: Simulated time [s].
        period: Length of a tick [s].
    """

    def __init__(
        self,
        model: RobotModel,
        options: DriverOptions | None = None,
        clock: SteadyClock | None = None,
    ) -> None:
        """Create the driver, by default with fake hardware, disarmed; the clock as of Driver."""
        self.time = 0.0
        self._names = model.joint_names
        self.driver = Driver(model, options or DriverOptions(), clock)
        self._controller = self.driver.controller
        self.period = self.driver.period
        measured = self.driver.bus.measures
        self._tolerances = measured_tolerances(self.driver.axes) if measured else Tolerances()
        self.goal_tolerances = self._tolerances.goal

    def arm(self, at: ArmConfiguration | None = None) -> None:
        """Arm the driver, and wait until every servo has pulses.

        With a configuration, the pulses of an earlier driver hold the arm there.
        """
        if at is not None:
            maps, q = self.driver.output.maps, [*at.array(self._names), at.width]
            counts = {m.channel: m.count_of(v) for m, v in zip(maps, q, strict=False)}
            self.driver.bus.write_counts(counts)
        self.driver.output.bus.open()
        self._controller.read()
        self._controller.arm()
        while self._controller.arming:
            self.step()

    def step(self) -> None:
        """Advance by one tick of the driver."""
        self._controller.tick(self.time)
        self.time += self.period

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""
        rows = zip(trajectory.times, trajectory.positions, trajectory.velocities, strict=True)
        points = [GoalPoint(float(t), q.tolist(), v.tolist()) for t, q, v in rows]
        goal = TrajectoryGoal(trajectory.joint_names, points)
        return self._start(lambda: self._follow(goal))

    def set_width(self, width: float) -> Move:
        """Start to move the jaws to a width [m]."""
        return self._start(lambda: self._controller.grip(width))

    @property
    def speed_scaling(self) -> float:
        """The requested factor on the speed of all motions."""
        return self._controller.speed_scaling

    @property
    def still(self) -> bool:
        """Whether nothing moves."""
        return not any(self._controller.command()[1])

    @property
    def idle(self) -> bool:
        """Whether the driver executes no motion."""
        return self._controller.state is not DriverState.MOVING

    @property
    def ready(self) -> bool:
        """Whether the driver is armed, and not paused."""
        is_armed = self._controller.state in (DriverState.ARMED, DriverState.MOVING)
        return is_armed and self.speed_scaling > 0.0

    def configuration(self) -> ArmConfiguration:
        """Return the configuration, measured or commanded."""
        measured = self._controller.snapshot().measured
        q = self._controller.command()[0] if measured is None else measured.positions
        n = len(self._names)
        return ArmConfiguration.of(self._names, np.array(q[:n]), q[n] if q[n:] else 0.0)

    def scale_speed(self, factor: float) -> None:
        """Set the factor on the speed of all motions."""
        self._controller.set_speed_scaling(factor)

    def scale_speed_when_idle(self, factor: float) -> None:
        """Set the factor, as this arm never loses a motion."""
        self.scale_speed(factor)

    def _follow(self, goal: TrajectoryGoal) -> Goal:
        return self._controller.follow(validate_goal(goal, self.driver.axes), self._tolerances)

    def _start(self, begin: Callable[[], Goal]) -> Move:
        try:
            return _DriverMove(begin(), self._controller.cancel)
        except HardwareError as error:
            return EndedMove(MoveStatus(MoveState.REJECTED, str(error)))


class ContactArm(DriverArm):
    """A driver on an emulated chip, whose pulses drive a ContactWorld."""

    def __init__(
        self, model: RobotModel, scene: Scene, errors: Mapping[str, ServoErrors] | None = None
    ) -> None:
        """Arm the driver; the robot needs a calibration of its servos."""
        super().__init__(model, DriverOptions(hardware="sim", backend="i2c_dev"))
        assert isinstance(self.driver.emulation, SimulatedBoard)
        self._pulse_of = self.driver.emulation.chip.pulse_us
        names = (axis.name for axis in self.driver.axes.actuators)
        maps = dict(zip(names, self.driver.output.maps, strict=True))
        self.world = ContactWorld(model, scene, maps, errors)  # type: ignore[arg-type]
        self.arm()
        self.settle()

    def step(self) -> None:
        """Advance by one tick of the driver and one frame of the chip."""
        super().step()
        self.world.step(self._pulse_of)

    def settle(self) -> None:
        """Wait until the servos are at rest."""
        for _ in range(_SETTLING):
            self.step()


@dataclass(frozen=True)
class ContactRun:
    """How a run in contact physics ended."""

    outcome: TaskOutcome | None  # None if the nut fell
    nut: NutTruth  # at the end
    step: str  # name of the last step
    duration: float  # simulated time [s]


def run_in_contact(
    plan: TaskPlan, arm: ContactArm, on_step: Callable[[int, NutTruth], None] | None = None
) -> ContactRun:
    """Run a plan until it ends or the nut has fallen; on_step gets each finished step's index."""
    running = 0

    def observe(*_: object) -> Observation:
        return Observation(None, arm.configuration().width)

    def on_feedback(feedback: Feedback) -> None:
        nonlocal running
        if feedback.step != running and on_step is not None:
            on_step(running, arm.world.nut())
        running = feedback.step

    engine = Engine(plan, arm, clock=lambda: arm.time, on_feedback=on_feedback, observe=observe)
    began = arm.time
    while not (engine.tick().done or arm.world.nut().fallen):
        arm.step()
    arm.settle()
    if on_step is not None:
        on_step(running, arm.world.nut())
    return ContactRun(engine.outcome, arm.world.nut(), plan.steps[running].name, arm.time - began)
