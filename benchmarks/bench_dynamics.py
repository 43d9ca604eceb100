# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Torques and inertia of shipped arms, beside Pinocchio, called from Python."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from ik.tables import add_write, processor, table, write

from arm_description import load_robot
from arm_kinematics import Chain

ROBOTS = ("nut_arm", "puma560", "panda", "ur5")
CALLS = ("gravity torques", "inverse dynamics", "inertia matrix")
ROUNDS, REPEATS = 300, 10  # medians over rounds of so many calls


def main() -> int:
    """Measure all arms; return 0."""
    parser = argparse.ArgumentParser(prog="./arm bench dynamics", description=__doc__)
    add_write(parser)
    arguments = parser.parse_args()
    rows = [row for name in ROBOTS for row in measure(name)]
    head = ("arm", "call", "Chain", "Pinocchio", "ratio", "largest difference")
    text = f"{table(head, rows)}\n\nProcessor: {processor()}; Pinocchio {version('pin')}."
    print(text)
    write(arguments.write, "dynamics", text)
    return 0


def measure(name: str) -> list[tuple[str, ...]]:
    """Return the rows of an arm: times [us], their ratio and the difference of the results."""
    model = load_robot(name)
    chain, peer = Chain.from_model(model), Peer(model.to_urdf(), model.joint_names)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, chain.n))
    own = (
        lambda: chain.gravity_torques(q),
        lambda: chain.inverse_dynamics(q, qd, qdd),
        lambda: chain.inertia_matrix(q),
    )
    theirs = peer.calls(q, qd, qdd)
    rows = []
    for what, ours, other in zip(CALLS, own, theirs, strict=True):
        gap = float(np.abs(ours() - peer.chosen(other())).max())
        mine, its = (1e6 * median(call) for call in (ours, other))
        times = f"{mine:.1f} us", f"{its:.1f} us", f"{its / mine:.2f}"
        rows.append((name, what, *times, f"{gap:.0e}"))
    return rows


def median(call: Callable[[], object]) -> float:
    """Return the median time of a call [s]."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(REPEATS):
            call()
        times.append((time.perf_counter() - start) / REPEATS)
    return statistics.median(times)


class Peer:
    """An arm in Pinocchio; joints beside the chain are at rest."""

    def __init__(self, urdf: str, names: tuple[str, ...]) -> None:
        import pinocchio

        self._pin = pinocchio
        self._model = pinocchio.buildModelFromXML(urdf)
        self._data = self._model.createData()
        ids = (self._model.getJointId(name) for name in names)
        self._rows = [self._model.joints[i].idx_v for i in ids]

    def calls(self, *values: np.ndarray) -> tuple[Callable[[], np.ndarray], ...]:
        """Return its three calls at positions, speeds and accelerations of the chain."""
        q, qd, qdd = (np.zeros(self._model.nv) for _ in values)
        for full, part in zip((q, qd, qdd), values, strict=True):
            full[self._rows] = part
        pin, model, data = self._pin, self._model, self._data
        return (
            lambda: pin.computeGeneralizedGravity(model, data, q),
            lambda: pin.rnea(model, data, q, qd, qdd),
            lambda: pin.crba(model, data, q),
        )

    def chosen(self, result: np.ndarray) -> np.ndarray:
        """Return the entries of the chain's joints; of a matrix, both halves."""
        if result.ndim == 1:
            return np.asarray(result[self._rows])
        full = np.triu(result) + np.triu(result, 1).T
        return np.asarray(full[np.ix_(self._rows, self._rows)])


if __name__ == "__main__":
    sys.exit(main())
