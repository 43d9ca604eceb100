# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One nut transfer by an arm that is not exact: did it work, and if not, what went wrong first?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arm_kinematics import Chain
from arm_tasks.geometry import Array
from arm_tasks.imperfect_arm import ImperfectArm, Noise, displaced
from arm_tasks.nut_world import NutWorld
from arm_tasks.plan import Plan
from arm_tasks.scene import Scene
from arm_tasks.sim_arm import Recording, simulate
from arm_tasks.task_steps import Expectation

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
class Trial:
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
    plan: Plan,
    chain: Chain,
    scene: Scene,
    expected: Expectation,
    noise: Noise,
    seed: int,
    zeros: Array | None = None,
) -> Trial:
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
    arm = ImperfectArm(chain, noise, rng, zeros)
    run = simulate(plan, chain, NutWorld(displaced(scene, noise, rng)), RATE, body=arm)
    nut = run.nuts[-1]
    there = nut.bolt == expected.nut_on and not nut.grasped
    turns = nut.turns_engaged if there else 0.0
    return Trial(seed, "" if turns >= expected.turns else fault(run), turns)


def fault(run: Recording) -> str:
    """Return in a few words what went wrong first in a run that failed."""
    for message in run.messages:
        for said, meant in _FAULTS:
            if said in message:
                return meant
    return "too few turns"
