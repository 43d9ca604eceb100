# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A model of hobby servos with errors, and Monte Carlo trials of the nut transfer with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array, pose, so3_exp
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.nut_state import NutEvent
from arm_tasks.scene.scene import Scene
from arm_tasks.task.steps import Expectation

from arm_kinematics import Chain
from arm_simulation.arms.ideal_arm import Recording, ServoBehaviour, simulate
from arm_simulation.geometric.nut_world import NutWorld

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

    def but(self, **bounds: float) -> Noise:
        """Return this noise with other bounds."""
        return replace(self, **bounds)


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


RATE = 25.0  # [1/s]; the world divides the motion between updates into small steps

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
    """Result of one transfer; equal seeds and errors give equal results.

    Attributes:
        seed: Of its random numbers.
        fault: What went wrong first; "" for a success.
        turns: Turns engaged on the expected bolt at the end.
        duration: Simulated time [s]; 0 without physics.
        joints: True joint positions (m, n) [rad] after each step up to the fault; physics only.
        nut: base_link <- nut (4, 4) [m] at the fault or the end; physics only.
    """

    seed: int
    fault: str
    turns: float
    duration: float = 0.0
    joints: tuple[tuple[float, ...], ...] = ()
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
    run = simulate(plan, world, RATE, servos=arm)
    nut = run.nuts[-1]
    in_place = nut.bolt == expected.nut_on and not nut.grasped
    turns = nut.turns_engaged if in_place else 0.0
    return TransferTrial(seed, "" if turns >= expected.turns else fault(run), turns)


def fault(run: Recording) -> str:
    """Return the first fault of a failed run in a few words."""
    return next((_FAULTS[event] for event in run.events if event in _FAULTS), "too few turns")
