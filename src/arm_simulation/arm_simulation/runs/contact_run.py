# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan in contact physics: driver, emulated chip and simulated arm in lock-step.

The simulated arm sees the pulses of the chip alone. Equal plans and errors give equal runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arm_description.robot_model import RobotModel
from arm_hardware.motion.options import DriverOptions
from arm_tasks.execution.engine import Engine, Feedback, TaskOutcome
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.scene import Scene
from arm_tasks.task.condition import Observation

from arm_simulation.arms.driver_arm import DriverArm
from arm_simulation.contact.servos import ServoErrors
from arm_simulation.contact.world import ContactWorld, NutTruth
from arm_simulation.emulation.board import SimulatedBoard

_SETTLING = 25  # frames after arming and at the end


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
