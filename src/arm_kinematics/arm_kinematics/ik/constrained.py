# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of arms whose limits depend on other joints.

The solver of the chain knows the ranges of the joints, which enclose those limits. Its solution is
kept if it is inside them; otherwise the other branches and whole turns are tried, then further
seeds: from each, the posture is moved into the limits and onto the target in turns, which finds
the part of a self-motion that is inside.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
from arm_common.transforms import Array, so3_log
from arm_description.model.constraints import SLACK
from numpy.typing import ArrayLike

from arm_kinematics.arguments import target_pose
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.diagnosis import has_loose_bounds
from arm_kinematics.ik.result import IkResult, IkStatus, Reason
from arm_kinematics.ik.search_model import SerialChain
from arm_kinematics.ik.solver import IkSolver, PreparedOptions, check_count
from arm_kinematics.kernels.compiled import search
from arm_kinematics.kernels.layout import Orientation, empty_result
from arm_kinematics.model.chain_model import one_turn

_SEEDS = 24
"""Postures to start from if no branch is inside."""
_TURNS = 12
"""Times that a posture is moved into the limits and back onto the target, for each seed."""
_REACHES = (0.0, *(0.7**i for i in range(26)))
"""Motions [rad or m] of joints that others depend on in a descent, one after the other."""
_MARGINS = (1.0, 1.2)
"""Shares of the way back inside: exactly, and beyond it if that makes no progress."""
_BRANCHES = 4
"""Solutions beyond limits of which the mildest is the reason for a refusal."""
_REFINEMENTS = 40
"""Steps towards the target for the best posture inside."""


class ConstrainedSolver:
    """Solves one request by the solver of a chain and keeps to the constraints of the chain."""

    def __init__(
        self,
        chain: SerialChain,
        solver: IkSolver,
        T: ArrayLike,
        seed: ArrayLike | None,
        prepared: PreparedOptions,
        deadline: float,
    ) -> None:
        """Prepare the request; arguments are those of ``IkSolver.solve``."""
        self._chain, self._solver, self._constraints = chain, solver, chain.constraints
        self._T, self._seed = target_pose(T, prepared.position_only), seed
        self._prepared, self._opt, self._deadline = prepared, prepared.record, deadline
        self._tool = np.eye(4) if solver.tool is None else solver.tool
        self._slides = np.array(chain.sliding)

    def solve(
        self, allow_approximate: bool, max_solutions: int | None, whole_turns: bool = False
    ) -> IkResult:
        """Return the solutions inside the constraints, as ``IkSolver.solve`` does."""
        check_count(max_solutions)
        first = self._plain(self._seed, max_solutions if max_solutions == 1 else None)
        if not first.ok:
            return self._refused(first, allow_approximate, self._reason_beyond(first))
        result = self._inside(first)
        if result is None or max_solutions != 1 or whole_turns:
            branches = self._branches(first)
            result = self._inside(branches) if whole_turns else self._nearest_turns(branches)
        if result is None:
            result = self._from_seeds()
        if result is None and self._is_loose():
            result = self._by_descents()
        if result is None:
            return self._refused(first, allow_approximate, self._reason(first))
        return result if max_solutions is None else result.selected(range(max_solutions))

    def _plain(
        self, seed: ArrayLike | None, count: int | None, whole_turns: bool = False
    ) -> IkResult:
        """Return one solution, or all, without regard to the constraints."""
        prepared = self._prepared
        if not whole_turns and prepared.every is not None:
            request = prepared.nearest if count == 1 else prepared.every
            result = request and request(self._T, seed)
            if result is not None:
                return result
        rest = prepared, False, count, self._deadline, whole_turns
        return self._solver.solve(self._T, seed, *rest)

    def _branches(self, one: IkResult) -> IkResult:
        """Return all solutions with all whole turns, or without if those are too many."""
        for whole_turns in (True, False):
            try:
                found = self._plain(self._seed, None, whole_turns)
            except KinematicsError:
                continue
            return found if found.ok else one
        return one

    def _inside(self, result: IkResult) -> IkResult | None:
        inside = np.flatnonzero(self._constraints.violation(result.every_q) <= SLACK)
        return result.selected(inside.tolist()) if result.ok and len(inside) else None

    def _nearest_turns(self, result: IkResult) -> IkResult | None:
        """Return the solutions inside, of those that differ by whole turns only the first."""
        found = self._inside(result)
        if found is None:
            return None
        q, kept = found.every_q, list[int]()
        for i in range(len(q)):
            turns = (q[i] - q[kept]) / (2.0 * math.pi)
            same = np.abs(np.where(self._slides, q[i] - q[kept], turns - np.round(turns))) < 1e-6
            if not (same.all(axis=1) & (np.abs(turns) > 0.5).any(axis=1)).any():
                kept.append(i)
        return found.selected(kept)

    def _from_seeds(self) -> IkResult | None:
        """Return a solution inside, found from postures inside; None if there is none."""
        for start in self._starts(spare=bool(self._opt["smallest_gain"])):
            if time.monotonic() > self._deadline:
                break
            q, amount = start, math.inf
            for turn in range(_TURNS):
                result = self._plain(q, 1)
                if not result.ok:
                    break
                best = self._inside(result)
                violation = float(self._constraints.violation(result.q))
                if best is not None:
                    return self._measured(best)
                if violation > 0.99 * amount:
                    break
                amount, moved = violation, self._constraints.inside(result.q)
                q = result.q + _MARGINS[turn % 2] * (moved - result.q)
                q = np.clip(q, self._chain.lower, self._chain.upper)
        return None

    def _is_loose(self) -> bool:
        """Return whether the tolerances leave room for postures that are not exact."""
        opt = self._opt
        return bool(opt["position_box"] or opt["orientation_box"] or has_loose_bounds(opt))

    def _by_descents(self) -> IkResult | None:
        """Return a solution inside by descents from postures inside; None if there is none.

        Each keeps near the posture that it starts from, in a box inside the constraints. With
        tolerances, it finds solutions that are nowhere near those without the constraints.
        """
        for q in self._starts(spare=True):
            if time.monotonic() > self._deadline:
                break
            for reach in _REACHES:
                result = self._descent(q, *self._box(q, reach))
                if (found := self._inside(result)) is not None:
                    return self._measured(found)
                q = self._constraints.inside(result.q)
        return None

    def _box(self, q: Array, reach: float) -> tuple[Array, Array]:
        """Return limits (n,) about q (n,) that are inside the constraints.

        Joints that others depend on stay within reach, for a reach of 0 all joints where they are.
        """
        chain, names = self._chain, self._chain.joint_names
        lower, upper = chain.lower.copy(), chain.upper.copy()
        for constraint in self._constraints.constraints:
            joint, others = names.index(constraint.joint), constraint.joints[1:]
            columns = [names.index(name) for name in others]
            lower[columns] = np.maximum(lower[columns], q[columns] - reach)
            upper[columns] = np.minimum(upper[columns], q[columns] + reach)
            ends = itertools.product(*zip(lower[columns], upper[columns], strict=True))
            bounds = [constraint.bounds(dict(zip(others, end, strict=True))) for end in ends]
            low, high = max(b[0] for b in bounds), min(b[1] for b in bounds)
            lower[joint], upper[joint] = (low, high) if low <= high else (q[joint], q[joint])
        lower, upper = np.maximum(lower, chain.lower), np.minimum(upper, chain.upper)
        return (lower, upper) if reach > 0.0 else (q, q)

    def _descent(self, q: Array, lower: Array, upper: Array) -> IkResult:
        """Return the result of one descent from q between other limits (n,)."""
        solver, gearing = self._solver, self._chain.gearing
        constants, opt = solver.model.constants.copy(), self._opt.copy()
        if gearing is not None:
            q, (lower, upper) = gearing.positions(q), gearing.limits(lower, upper)
        constants["lower"][1:], constants["upper"][1:] = lower, upper
        opt["starts"], out = 1.0, empty_result(solver.model.size, 1)
        search(constants, opt, self._T, q, out)
        status = IkStatus.SUCCESS if out["solutions"] else IkStatus.UNREACHABLE_POSITION
        out = out if gearing is None else gearing.result(out)
        return IkResult.of(status, out)

    def _measured(self, found: IkResult) -> IkResult:
        """Return a result with its distances from the seed."""
        chain, weights = self._chain, self._opt["joint_weights"]
        gaps = found.every_q - self._start()
        if chain.gearing is not None:
            gaps = np.array([chain.gearing.positions(gap) for gap in gaps])
        return found.measured_from(np.sqrt((weights * gaps**2).sum(axis=1)))

    def _start(self) -> Array:
        given = self._chain.middle if self._seed is None else self._seed
        return np.asarray(given, dtype=np.float64)

    def _starts(self, spare: bool) -> list[Array]:
        """Return postures inside: near the seed and mid-range, then spread if motion is spare."""
        chain = self._chain
        low, high = one_turn(chain.lower, chain.upper, chain.sliding)
        spread = np.random.default_rng(0).uniform(low, high, (_SEEDS if spare else 0, chain.n))
        return [self._constraints.inside(q) for q in (self._start(), chain.middle, *spread)]

    def _reason(self, result: IkResult) -> Reason | None:
        """Return the constraint that is in the way of the mildest solution, if there is one."""
        amounts = self._constraints.violation(result.every_q)
        worst = self._constraints.worst(result.every_q[int(np.argmin(amounts))])
        if worst is None:
            return None
        clause = f"joint limits are in the way: {worst.sentence}"
        return Reason(IkStatus.JOINT_LIMIT, clause, (worst.joint,))

    def _reason_beyond(self, result: IkResult) -> Reason | None:
        """Return why there is no solution: the constraint, if the range that encloses it is.

        That range is wider than what is allowed where the other joints are.
        """
        limited = {constraint.joint for constraint in self._constraints.constraints}
        end = self._deadline
        timeout = None if math.isinf(end) else max(end - time.monotonic(), 0.0)
        if not limited.intersection(result.limiting_joints) or timeout == 0.0:
            return result.reason
        mode, near, turned, axis, axes, weights, prefer = self._prepared.options
        free = self._chain.unconstrained.ik(
            self._T, self._seed, mode, near, turned, False, _BRANCHES, timeout, axis=axis,
            tool=self._solver.tool, tolerance_axes=axes, weights=weights, prefer=prefer,
        )  # fmt: skip
        return (self._reason(free) if free.ok else None) or result.reason

    def _refused(
        self, result: IkResult, allow_approximate: bool, reason: Reason | None
    ) -> IkResult:
        """Return the reason with the best posture inside the constraints."""
        assert reason is not None  # of a result without solution
        status = reason.status
        if allow_approximate and status != IkStatus.TIMEOUT:
            status = IkStatus.APPROXIMATE
        best = None
        if result.ok or float(self._constraints.violation(result.q)) > SLACK:
            best = self._best_effort(result.q)
        return result.refused(status, reason, best)

    def _best_effort(self, q: Array) -> tuple[Array, Array]:
        """Return the posture (n,) inside that comes nearest to the target, and its error (6,)."""
        weights = self._opt["weights"]
        chain, q = self._chain, self._constraints.inside(q)
        best, least = q, math.inf
        for _ in range(_REFINEMENTS):
            if math.isfinite(least) and time.monotonic() > self._deadline:
                break
            error = self._error(q)
            size = float(np.linalg.norm(weights * error))
            if size < least and float(self._constraints.violation(q)) <= SLACK:
                best, least = q, size
            J = self._tool_jacobian(q) * weights[:, None]
            step = np.linalg.lstsq(J, weights * error, rcond=1e-3)[0]
            step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-9))
            q = self._constraints.inside(np.clip(q + step, chain.lower, chain.upper))
        return best, self._error(best)

    def _tool_jacobian(self, q: Array) -> Array:
        T, J = self._chain.fk_jacobian(q)
        lever = T[:3, :3] @ self._tool[:3, 3]
        return np.vstack([J[:3] + np.cross(J[3:].T, lever).T, J[3:]])

    def _error(self, q: Array) -> Array:
        """Return what brings the tool to T: [translation; rotation vector] (6,), base axes."""
        T, opt = self._T, self._opt
        tip = np.asarray(self._chain.fk(q) @ self._tool)
        error = np.zeros(6)
        error[:3] = T[:3, 3] - tip[:3, 3]
        if opt["orientation"] == Orientation.ROTATION:
            error[3:] = so3_log(T[:3, :3] @ tip[:3, :3].T)
        elif opt["orientation"] == Orientation.AXIS:
            axis = opt["axis"]
            now, wanted = tip[:3, :3] @ axis, T[:3, :3] @ axis
            across = np.cross(now, wanted)
            sine = float(np.linalg.norm(across))
            error[3:] = across / max(sine, 1e-12) * math.atan2(sine, float(now @ wanted))
        free = opt["bounds"] == 0.0
        error[free & (opt["in_tip"] == 0.0)] = 0.0
        return error
