# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm of hobby servos as it is, not as it was told: where tool and jaws really are.

One nut transfer by an arm that is not exact: did it work, and if not, what went wrong first?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array, pose, rotation

from arm_kinematics import Chain
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.scene import Scene
from arm_tasks.task.steps import Expectation
from arm_tasks.world.ideal_arm import Recording, simulate
from arm_tasks.world.nut_world import NutWorld

# 12 bits in 20 ms are 4.88 us; 2000 us turn a common servo by 180 degrees.
ONE_TICK = math.radians(180.0 * (20000.0 / 4096.0) / 2000.0)


@dataclass(frozen=True)
class Noise:
    """How far things are off; every bound is the largest error, all below it equally likely.

    Attributes:
        tick: Step of the servos' command, for joints that turn [rad].
        dead_band: Whole width of what a servo does not follow [rad].
        backlash: Whole play of its gears [rad].
        zero: Bound of how far a joint's zero is off [rad].
        width: Bound of how far the jaws' width is off [m].
        aside: Bound of how far the jaws' middle is off the tool's axis, along the opening [m].
        bolt: Bound of how far a bolt is off along each of its axes [m].
        bolt_tilt: Bound of how far its axis leans [rad].
    """

    tick: float = 0.0
    dead_band: float = 0.0
    backlash: float = 0.0
    zero: float = 0.0
    width: float = 0.0
    aside: float = 0.0
    bolt: float = 0.0
    bolt_tilt: float = 0.0

    def but(self, **bounds: float) -> Noise:
        """Return this noise with other bounds."""
        return replace(self, **bounds)


# A data sheet's 5 us of dead band are 0.45 degrees; a degree is what worn or loaded ones show.
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


class NoisyArm:
    """Where tool and jaws are, for what the servos are told one after the other.

    Dead band and backlash are play: the joint stands still until the command has moved through
    it, and then follows half of it behind (the play operator; Brokate and Sprekels, "Hysteresis
    and Phase Transitions", 1996, chapter 2). Where in its play a joint is at first is chance.

    Args:
        chain: The arm as it is described.
        noise: How far it is off.
        rng: Chance; the same state gives the same arm.
        zeros: (n,) how much farther each joint stands than it is told [rad]; None draws them.
    """

    def __init__(
        self,
        chain: Chain,
        noise: Noise,
        rng: np.random.Generator,
        zeros: Array | None = None,
    ) -> None:
        self._chain = chain
        self._noise = noise
        self._turns = ~np.asarray(chain.prismatic)
        drawn = rng.uniform(-noise.zero, noise.zero, chain.n) * self._turns
        self.zeros = drawn if zeros is None else zeros
        self._play = 0.5 * (noise.dead_band + noise.backlash) * self._turns
        self._lag = rng.uniform(-1.0, 1.0, chain.n) * self._play
        self._at: Array | None = None
        self._width_off = float(rng.uniform(-noise.width, noise.width))
        self._jaws = pose(p=(0.0, float(rng.uniform(-noise.aside, noise.aside)), 0.0))

    def joints(self, told: Array) -> Array:
        """Return where the joints (n,) are once they have been told so [rad or m]."""
        if self._noise.tick:
            rounded = np.round(told / self._noise.tick) * self._noise.tick
            told = np.where(self._turns, rounded, told)
        if self._at is None:
            self._at = told - self._lag
        self._at = np.clip(self._at, told - self._play, told + self._play)
        return np.asarray(self._at + self.zeros)

    def tool(self, told: Array) -> Array:
        """Return base_link <- the middle of the jaws (4, 4), z along the tool's [m]."""
        return np.asarray(self._chain.fk(self.joints(told)) @ self._jaws)

    def width(self, told: float) -> float:
        """Return the distance of the jaws [m]."""
        return told + self._width_off


def displaced(scene: Scene, noise: Noise, rng: np.random.Generator) -> Scene:
    """Return the scene as it really is: each bolt a little off, its wall where it was."""
    for name, bolt in scene.bolts.items():
        aside = rng.uniform(-noise.bolt, noise.bolt, 3)
        lean = np.array([*rng.uniform(-noise.bolt_tilt, noise.bolt_tilt, 2), 0.0])
        scene = scene.with_bolt(name, bolt.pose @ pose(rotation(lean), tuple(aside)))
    return scene


RATE = 25.0  # updates a second; the world looks at the motion between two in small steps

# What a message of the world means for a transfer, the first that is said decides.
_FAULTS = (
    ("missed the nut", "jaws missed the nut"),
    ("closed on nothing", "jaws missed the nut"),
    ("slipped out of the jaws", "nut slipped out of the jaws"),
    ("from the side", "nut struck a bolt from the side"),
    ("pushed it out", "bolt pushed the nut out of the jaws"),
    ("cross-threaded", "cross-threaded"),
    ("does not catch", "thread did not catch"),
    ("fell to the floor", "nut was let go before the thread caught"),
)


@dataclass(frozen=True)
class MonteCarloTrial:
    """How one transfer ended.

    Attributes:
        seed: Of its chance.
        fault: What went wrong first, in a few words; "" if the nut is where it should be.
        turns: Turns of thread engaged at the end on the bolt that it should be on.
    """

    seed: int
    fault: str
    turns: float


def run_trial(
    plan: TaskPlan,
    chain: Chain,
    scene: Scene,
    expected: Expectation,
    noise: Noise,
    seed: int,
    zeros: Array | None = None,
) -> MonteCarloTrial:
    """Run a plan on an arm and a scene that are off by chance.

    Args:
        plan: Made for the arm and the scene as they are described.
        chain: The arm as described.
        scene: The scene as described.
        expected: What must have come of it.
        noise: How far things are off.
        seed: Equal seeds give equal trials.
        zeros: (n,) how far each joint's zero is off [rad]; None draws them.
    """
    rng = np.random.default_rng(seed)
    arm = NoisyArm(chain, noise, rng, zeros)
    run = simulate(plan, chain, NutWorld(displaced(scene, noise, rng)), RATE, body=arm)
    nut = run.nuts[-1]
    there = nut.bolt == expected.nut_on and not nut.grasped
    turns = nut.turns_engaged if there else 0.0
    return MonteCarloTrial(seed, "" if turns >= expected.turns else fault(run), turns)


def fault(run: Recording) -> str:
    """Return in a few words what went wrong first in a run that failed."""
    for message in run.messages:
        for said, meant in _FAULTS:
            if said in message:
                return meant
    return "too few turns"
