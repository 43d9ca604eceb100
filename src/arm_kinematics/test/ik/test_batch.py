# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import itertools
import math
import os
import signal

import numpy as np
import pytest
from arm_kinematics.errors import CanceledError
from arm_testing.arms.chains import shipped

from arm_kinematics import Chain, IkStatus, KinematicsError

COUNT = 150  # enough to use several threads


def check(chain: Chain, Ts: np.ndarray, seeds: np.ndarray, **options) -> np.ndarray:
    batch = chain.ik_batch(Ts, seeds, **options)
    assert len(batch) == len(Ts) and batch.q.shape == (len(Ts), chain.n)
    for k, (T, seed) in enumerate(zip(Ts, seeds, strict=True)):
        one = chain.ik(T, seed, **options)
        assert batch.status[k] == one.status
        assert np.array_equal(batch.q[k], one.q)
        assert batch.position_error[k] == pytest.approx(one.position_error, rel=1e-12)
        assert batch.orientation_error[k] == pytest.approx(one.orientation_error, rel=1e-12)
        assert batch.distance[k] == pytest.approx(one.solutions[0].distance, rel=1e-12)
        assert batch.ok[k] == one.ok
    return batch.status


@pytest.mark.parametrize("mode", ["pose", "position", "position_axis"])
@pytest.mark.parametrize("name", ["planar2", "nut_arm", "puma560", "panda"])
def test_batch_equals_single_calls(name, mode, rng):
    chain = shipped(name)
    Q = rng.uniform(chain.lower, chain.upper, (COUNT, chain.n))
    Ts = np.array([chain.fk(q) for q in Q])
    seeds = rng.uniform(chain.lower, chain.upper, Q.shape)
    assert (check(chain, Ts, seeds, mode=mode) == IkStatus.SUCCESS).all()


@pytest.mark.parametrize("allow", [False, True])
def test_unreachable_targets_have_their_own_status(nut_arm, rng, allow):
    Ts = np.array([nut_arm.fk(q) for q in rng.uniform(-0.5, 0.5, (40, 4))])
    Ts[7, :3, 3] += 1.0
    Ts[33] = nut_arm.fk([0.0, 0.2, 1.8, 0.0])
    status = check(nut_arm, Ts, np.tile(nut_arm.middle, (40, 1)), allow_approximate=allow)
    reasons = (IkStatus.UNREACHABLE_POSITION, IkStatus.JOINT_LIMIT)
    assert tuple(status[[7, 33]]) == ((IkStatus.APPROXIMATE,) * 2 if allow else reasons)
    assert (np.delete(status, [7, 33]) == IkStatus.SUCCESS).all()


def test_batch_supports_options_that_choose_among_solutions(rng):
    panda = shipped("panda")
    Ts = np.array([panda.fk(q) for q in rng.uniform(panda.lower, panda.upper, (34, 7))])
    check(panda, Ts, np.tile(panda.middle, (34, 1)), mode="position", prefer="centred")
    tool = np.eye(4)
    tool[2, 3] = 0.1
    check(panda, Ts, np.tile(panda.middle, (34, 1)), tool=tool, orientation_tolerance=(1, 1, 1e-3))


@pytest.mark.parametrize("options", [{"weights": (1.0, 2.0, 3.0)}, {"axis": [1.0, 0.0, 0.0]}])
def test_rounded_targets_are_solved(options, rng):
    chain = shipped("anthropomorphic_arm")
    Ts = np.array([chain.fk(q) for q in rng.uniform(chain.lower, chain.upper, (60, 3))])
    Ts[:, :3, :3] = Ts[:, :3, :3].round(8)
    seeds = rng.uniform(chain.lower, chain.upper, (60, 3))
    mode = "position_axis" if "axis" in options else "position"
    assert (check(chain, Ts, seeds, mode=mode, **options) == IkStatus.SUCCESS).all()


def test_seed_may_be_shared_or_omitted(nut_arm, rng):
    Ts = np.array([nut_arm.fk(q) for q in rng.uniform(-0.5, 0.5, (50, 4))])
    one = nut_arm.ik_batch(Ts, [0.1, 0.2, 0.3, 0.4])
    assert np.array_equal(one.q, nut_arm.ik_batch(Ts, np.tile([0.1, 0.2, 0.3, 0.4], (50, 1))).q)
    assert np.array_equal(
        nut_arm.ik_batch(Ts).q, nut_arm.ik_batch(Ts, np.tile(nut_arm.middle, (50, 1))).q
    )
    assert len(nut_arm.ik_batch(np.empty((0, 4, 4)))) == 0


def test_whole_batch_ends_in_time(rng):
    """Each of these targets takes long: some are tried, the others say that they were not."""
    panda = shipped("panda")
    seeds = rng.uniform(panda.lower, panda.upper, (400, 7))
    Ts = np.array([panda.fk(q) for q in seeds])
    Ts[:, :3, 3] += 0.5 * Ts[:, :3, 3]
    batch = panda.ik_batch(Ts, seeds, total_timeout=0.01)
    left = np.isinf(batch.position_error)
    assert left.any() and (batch.status[left] == IkStatus.TIMEOUT).all()
    assert np.array_equal(batch.q[left], seeds[left]) and (batch.distance[left] == 0.0).all()
    assert np.isinf(batch.orientation_error[left]).all()
    done = np.flatnonzero(~left & (batch.status != IkStatus.TIMEOUT)).tolist()
    cut_short = [k for k in done if not np.array_equal(batch.q[k], panda.ik(Ts[k], seeds[k]).q)]
    assert len(cut_short) <= len(os.sched_getaffinity(0))  # their reason was known, not the best


def test_time_of_a_batch_with_constraints_is_limited():
    arm = shipped("mearm")
    Ts = np.array([arm.fk(arm.middle)] * 40)
    batch = arm.ik_batch(Ts, total_timeout=1e-9)
    assert (batch.status == IkStatus.TIMEOUT).all() and np.isinf(batch.position_error).all()


@pytest.mark.parametrize("name", ["nut_arm", "panda"])
def test_batch_is_cancelled_as_a_whole(name, rng):
    chain = shipped(name)
    Q = rng.uniform(chain.lower, chain.upper, (2000, chain.n))
    Ts = np.array([chain.fk(q) for q in Q])
    calls = itertools.count()
    with pytest.raises(CanceledError, match="cancelled"):
        chain.ik_batch(Ts, canceled=lambda: next(calls) >= 2)
    assert chain.ik_batch(Ts, canceled=lambda: False).ok.all()


@pytest.mark.parametrize("cores", [1, 2])
def test_batch_asks_after_few_targets_whether_it_is_cancelled(cores, monkeypatch, rng):
    chain = shipped("nut_arm")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    Ts = np.array([chain.fk(q) for q in rng.uniform(chain.lower, chain.upper, (1000, 4))])
    asked: list[None] = []
    assert chain.ik_batch(Ts, canceled=lambda: bool(asked.append(None))).ok.all()
    assert len(asked) >= 1000 / 50


@pytest.mark.parametrize("cores", [1, 2])
def test_interrupt_ends_a_batch(cores, monkeypatch, rng):
    panda = shipped("panda")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    Ts = np.array([panda.fk(q) for q in rng.uniform(panda.lower, panda.upper, (3000, 7))])
    Ts[:, :3, 3] += 0.5 * Ts[:, :3, 3]  # out of reach, so that each takes long
    asked = itertools.count(1)

    def interrupt() -> bool:
        if next(asked) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    with pytest.raises(KeyboardInterrupt):
        panda.ik_batch(Ts, canceled=interrupt)
    assert next(asked) < 1000  # each thread ends with the target at which it is


GOOD = shipped("nut_arm").fk([0.1, 0.2, 0.3, 0.4])
NAN = np.tile(GOOD, (40, 1, 1))
NAN[35, 0, 3] = math.nan
BAD = {
    "one target": ((GOOD,), {}, r"shape \(m, 4, 4\), got \(4, 4\)"),
    "text": (("here",), {}, "targets"),
    "NaN in a target": ((NAN,), {}, "target 36: target: contains NaN"),
    "seeds of another number": ((NAN[:3], np.zeros((2, 4))), {}, "2 for 3 targets"),
    "a seed too short": ((NAN[:3], np.zeros(3)), {}, "seed: expected 4"),
    "seeds of several lengths": ((NAN[:2], [[0.0] * 4, [0.0] * 3]), {}, "seed: expected 4"),
    "a NaN in a seed": ((NAN[:2], [[0.0] * 4, [math.nan] * 4]), {}, "seed: expected 4"),
    "mode": ((NAN[:3],), {"mode": "somehow"}, "'somehow'"),
    "no time": ((NAN[:3],), {"timeout": 0.0}, "timeout"),
    "no time for all": ((NAN[:3],), {"total_timeout": -1.0}, "timeout"),
    "tool": ((NAN[:3],), {"tool": np.eye(3)}, "tool"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_batches_are_rejected(nut_arm, case):
    arguments, options, pattern = BAD[case]
    with pytest.raises(KinematicsError, match=pattern):
        nut_arm.ik_batch(*arguments, **options)
