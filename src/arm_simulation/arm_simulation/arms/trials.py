# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trials of the nut transfer: arms and bolts with errors drawn from a seed, in either world.

A job is small and picklable; the process that runs it plans once for all jobs of a task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from arm_common.transforms import Array, pose, so3_exp
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.robot_model import RobotModel
from arm_hardware.calibration.kinematic_fit import TouchPoints, fit, joint_zeros
from arm_tasks.errors import PlanError
from arm_tasks.execution.engine import EngineState
from arm_tasks.planning.collision.mujoco_library import mujoco
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Expectation, Screw, Task

from arm_kinematics import Chain
from arm_simulation import SimulationError
from arm_simulation.arms.driver_arm import ContactArm, run_in_contact
from arm_simulation.arms.ideal_arm import Recording, ReferenceRun, ServoBehaviour, simulate
from arm_simulation.contact.servos import ServoErrors
from arm_simulation.contact.world import NutTruth
from arm_simulation.geometric.world import NutWorld

TOUCHED = 12  # points of a calibration
_RULER = 0.3e-3  # standard deviation of measuring one of them, each axis [m]
_TURNS = 1.0  # largest difference of turns between both worlds that is no fault
_RATE = 25.0  # [1/s]; the world divides the motion between updates into small steps
# 12 bits in 20 ms are 4.88 us; 2000 us turn a common servo by 180 degrees.
ONE_TICK = math.radians(180.0 * (20000.0 / 4096.0) / 2000.0)


@dataclass(frozen=True)
class Noise:
    """Error bounds; errors are uniformly distributed within them."""

    tick: float = 0.0  # resolution of the servo commands, for revolute joints [rad]
    dead_band: float = 0.0  # full width of a servo's dead band [rad]
    backlash: float = 0.0  # full backlash of its gears [rad]
    zero: float = 0.0  # error of a joint's zero [rad]
    width: float = 0.0  # error of the jaw width [m]
    aside: float = 0.0  # offset of the jaws from the tool's axis, along the opening [m]
    bolt: float = 0.0  # error of a bolt's position along each of its axes [m]
    bolt_tilt: float = 0.0  # error of a bolt's axis [rad]


# Data sheets give 5 us of dead band, 0.45 degrees; worn or loaded servos show a degree.
HOBBY = Noise(
    tick=ONE_TICK,
    dead_band=math.radians(1.0),
    backlash=math.radians(0.2),
    zero=math.radians(0.5),
    width=0.3e-3,
    aside=0.3e-3,
    bolt=0.5e-3,
    bolt_tilt=math.radians(0.5),
)


class NoisyArm(ServoBehaviour):
    """Actual tool pose and jaw width for a sequence of commands.

    Dead band and backlash are play: the joint rests until the command has crossed the play and
    then lags by half of it (the play operator; Brokate and Sprekels, "Hysteresis and Phase
    Transitions", 1996, chapter 2). The initial position within the play is random, and so are the
    zero errors of the joints (n,) [rad], actual minus commanded, unless they are given.
    """

    def __init__(
        self, chain: Chain, noise: Noise, rng: np.random.Generator, zeros: Array | None = None
    ) -> None:
        super().__init__(chain)
        self._noise = noise
        self._turns = ~np.asarray(chain.sliding)
        drawn = rng.uniform(-noise.zero, noise.zero, chain.n) * self._turns
        self.zeros = drawn if zeros is None else zeros
        self._play = 0.5 * (noise.dead_band + noise.backlash) * self._turns
        self._lag = rng.uniform(-1.0, 1.0, chain.n) * self._play
        self._position: Array | None = None
        self._width_off = float(rng.uniform(-noise.width, noise.width))
        self._jaws = pose(p=(0.0, float(rng.uniform(-noise.aside, noise.aside)), 0.0))

    def joints(self, commanded: Array) -> Array:
        """Return the joint positions (n,) after a command [rad or m]."""
        if self._noise.tick:
            rounded = np.round(commanded / self._noise.tick) * self._noise.tick
            commanded = np.where(self._turns, rounded, commanded)
        if self._position is None:
            self._position = commanded - self._lag
        self._position = np.clip(self._position, commanded - self._play, commanded + self._play)
        return np.asarray(self._position + self.zeros)

    def tool(self, commanded: Array) -> Array:
        """Return base_link <- jaws (4, 4), centred between them with the tool's axes [m]."""
        return np.asarray(self._chain.fk(self.joints(commanded)) @ self._jaws)

    def width(self, commanded: float) -> float:
        """Return the distance of the jaws [m]."""
        return commanded + self._width_off


def displaced(scene: Scene, noise: Noise, rng: np.random.Generator) -> Scene:
    """Return the actual scene, with random errors of the bolts but not of their walls."""
    for name, bolt in scene.bolts.items():
        aside = rng.uniform(-noise.bolt, noise.bolt, 3)
        lean = np.array([*rng.uniform(-noise.bolt_tilt, noise.bolt_tilt, 2), 0.0])
        scene = scene.with_bolt(name, bolt.pose @ pose(so3_exp(lean), tuple(aside)))
    return scene


# The first of these events is the reason of a failure.
_FAULTS = {
    NutEvent.MISSED: "jaws missed the nut",
    NutEvent.CLOSED_ON_NOTHING: "jaws missed the nut",
    NutEvent.SLIPPED: "nut slipped out of the jaws",
    NutEvent.STRUCK_BOLT: "nut struck a bolt from the side",
    NutEvent.PUSHED_OUT: "bolt pushed the nut out of the jaws",
    NutEvent.NOT_CAUGHT: "thread did not catch",
    NutEvent.DROPPED: "nut was released before the thread caught",
}


@dataclass(frozen=True)
class TransferTrial:
    """Result of one transfer; equal seeds and errors give equal results."""

    seed: int  # of its random numbers
    fault: str  # what went wrong first; "" for a success
    turns: float  # turns engaged on the expected bolt at the end
    duration: float = 0.0  # simulated time [s]; 0 without physics
    # true joint positions (m, n) [rad] after each step up to the fault; physics only
    joints: tuple[tuple[float, ...], ...] = ()
    # base_link <- nut (4, 4) [m] at the fault or the end; physics only
    nut: tuple[tuple[float, ...], ...] = ()


def run_trial(
    plan: TaskPlan, expected: Expectation, noise: Noise, seed: int, zeros: Array | None = None
) -> TransferTrial:
    """Run a plan for the nominal arm and scene on an arm and a scene with random errors.

    Equal seeds give equal trials; zeros (n,) are the zero errors of the joints [rad], random if
    None.
    """
    rng = np.random.default_rng(seed)
    arm = NoisyArm(plan.request.chain, noise, rng, zeros)
    world = NutWorld(displaced(plan.request.scene, noise, rng))
    run = simulate(plan, world, _RATE, servos=arm)
    nut = run.nuts[-1]
    in_place = nut.bolt == expected.nut_on and not nut.grasped
    turns = nut.turns_engaged if in_place else 0.0
    return TransferTrial(seed, "" if turns >= expected.turns else fault(run), turns)


def fault(run: Recording) -> str:
    """Return the first fault of a failed run in a few words."""
    return next((_FAULTS[event] for event in run.events if event in _FAULTS), "too few turns")


@dataclass(frozen=True)
class TransferJob:
    """One transfer by an arm that its seed determines."""

    task: str  # name of the task
    noise: Noise  # bounds of the errors
    seed: int  # of all errors
    contact: bool = False  # whether contact physics decide, or the rules of geometry
    touched: bool = False  # whether the arm is calibrated by touching points before
    # whether the task is done as for an exact arm: no play is taken up, nothing searched
    exact: bool = False
    steps: int = 0  # number of steps of the plan to run in contact physics; 0 for all


@dataclass(frozen=True)
class _Expectation:
    """A plan, and the nut after each of its steps by the rules of geometry."""

    plan: TaskPlan
    nuts: Mapping[int, NutReport]


def run_job(job: TransferJob) -> TransferTrial:
    """Run a job.

    Raises:
        PlanError: the task is infeasible.
        InputError: MuJoCo is missing.
    """
    expected = _expectation(job.task, job.contact, job.exact)
    plan, model = expected.plan, expected.plan.request.model
    zeros = zeros_after_touching(model, job.noise, job.seed) if job.touched else None
    if job.contact:
        return _contact_trial(expected, job, zeros)
    wanted = plan.request.task.expect
    assert wanted is not None
    return run_trial(plan, wanted, job.noise, job.seed, zeros)


def zeros_after_touching(model: RobotModel, noise: Noise, seed: int) -> Array:
    """Return how far the zeros (n,) of an arm still are off after calibrate_kinematics [rad].

    The arm comes to each point from one side, its play taken up; the roll of the wrist moves no
    tip and keeps its error.
    """
    chain, rng = Chain.from_model(model), np.random.default_rng([seed, 1])
    arm = NoisyArm(chain, noise, rng)
    low, high = np.radians([-35.0, -35.0, -30.0, -10.0]), np.radians([35.0, 45.0, 45.0, 10.0])
    half = 0.5 * (noise.dead_band + noise.backlash)
    commanded, tips = rng.uniform(low, high, (TOUCHED, chain.n)), []
    for q in commanded:
        for there in (q - 2.0 * half, q + half, q):
            joints = arm.joints(there)
        tips.append(chain.fk(joints)[:3, 3] + rng.normal(0.0, _RULER, 3))
    points = TouchPoints(np.zeros(3), commanded, np.array(tips))
    found = fit(model, joint_zeros(model), points)
    left = np.array(arm.zeros)
    for parameter, value in zip(found.parameters, found.values, strict=True):
        left[parameter.joint] -= value
    return left


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the bounds of a probability with 95 % confidence.

    Wilson, "Probable inference, the law of succession, and statistical inference", J. American
    Statistical Association 22, 1927.
    """
    z, share = 1.959964, successes / trials
    centre = share + z * z / (2.0 * trials)
    half = z * math.sqrt((share * (1.0 - share) + z * z / (4.0 * trials)) / trials)
    whole = 1.0 + z * z / trials
    return max(0.0, (centre - half) / whole), min(1.0, (centre + half) / whole)


@cache
def _expectation(name: str, contact: bool, exact: bool) -> _Expectation:
    """Return the plan of a shipped task for the arm and the scene as they are described."""
    model, task = load_robot(DEFAULT_ROBOT), load_task(name)
    scene = load_scene(task.scene)
    start = ArmConfiguration(dict.fromkeys(model.joint_names, 0.0), 0.0)
    if contact:
        start = ContactArm(model, scene).configuration()
    task = _for_exact_arm(task) if exact else task
    plan = plan_task(TaskRequest(task, scene, model, Chain.from_model(model), start))
    if not plan.feasible:
        raise PlanError(plan.message)
    run = ReferenceRun.of(plan).recording
    return _Expectation(plan, dict(zip(run.steps, run.nuts, strict=True)))


def _for_exact_arm(task: Task) -> Task:
    steps = (
        replace(step, press=0.3e-3, search=0.0, play=0.0) if isinstance(step, Screw) else step
        for step in task.steps
    )
    return replace(task, steps=tuple(steps))


def _drawn_errors(
    model: RobotModel, noise: Noise, seed: int, zeros: Array | None
) -> dict[str, ServoErrors]:
    """Return the errors of all servos; the gripper's zero is that of its width."""
    rng = np.random.default_rng(seed)
    bounds = {name: noise.zero for name in model.joint_names} | {"gripper": noise.width}
    drawn = {name: float(rng.uniform(-most, most)) for name, most in bounds.items()}
    if zeros is not None:
        drawn |= dict(zip(model.joint_names, map(float, zeros), strict=True))
    return {
        name: ServoErrors(noise.dead_band, noise.backlash, zero) for name, zero in drawn.items()
    }


class _Watch:
    """Compares the nut in physics with the expected one after each step, up to the first fault."""

    def __init__(self, arm: ContactArm, expected: _Expectation) -> None:
        self.fault = ""
        self.joints: list[tuple[float, ...]] = []
        self.nut = arm.world.nut().pose
        self._arm, self._expected = arm, expected

    def after_step(self, index: int, truth: NutTruth) -> None:
        """Note the state of arm and nut after a step."""
        if self.fault:
            return
        found, names = self._arm.world.joints(), self._expected.plan.joint_names
        self.joints.append(tuple(found[name] for name in names))
        self.nut = truth.pose
        if what := deviation(self._expected.nuts[index], truth):
            step = self._expected.plan.steps[index].name
            self.fault = f"{what}: {step}"


def deviation(expected: NutReport, truth: NutTruth) -> str:
    """Return how the nut differs from the expected one, or ""."""
    if truth.fallen:
        return "the nut fell"
    if expected.grasped and not truth.held:
        return "the jaws do not hold the nut"
    engaged = expected.turns_engaged if expected.bolt else 0.0
    if expected.status is NutStatus.HELD and truth.turns_engaged > _TURNS:
        return "the nut is still on its bolt"
    if engaged > truth.turns_engaged + _TURNS:
        return "the thread did not catch" if truth.held else "the nut came off"
    return ""


def _contact_trial(expected: _Expectation, job: TransferJob, zeros: Array | None) -> TransferTrial:
    """Return the result of a trial; one whose simulation fails has no joints and no nut."""
    mujoco()  # without it, every trial would fail
    try:
        return _simulated(expected, job, zeros)
    except SimulationError as error:
        return TransferTrial(job.seed, f"the simulation failed: {error}", 0.0)


def _simulated(expected: _Expectation, job: TransferJob, zeros: Array | None) -> TransferTrial:
    plan, model = expected.plan, expected.plan.request.model
    actual = displaced(plan.request.scene, job.noise, np.random.default_rng([job.seed, 1]))
    arm = ContactArm(model, actual, _drawn_errors(model, job.noise, job.seed, zeros))
    watch = _Watch(arm, expected)
    steps = plan.steps[: job.steps or None]
    run = run_in_contact(replace(plan, steps=steps), arm, watch.after_step)
    wanted = plan.request.task.expect
    assert wanted is not None
    there = run.nut.bolt == wanted.nut_on and not run.nut.held
    turns = run.nut.turns_engaged if there else 0.0
    ended = run.outcome is not None and run.outcome.state is EngineState.SUCCEEDED
    fault = "" if ended and turns >= wanted.turns else watch.fault or "too few turns"
    nut = tuple(map(tuple, (watch.nut if fault else run.nut.pose).tolist()))
    return TransferTrial(job.seed, fault, turns, run.duration, tuple(watch.joints), nut)
