// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Branches of a closed form: all solutions, or the one nearest to the seed.
//
// A branch is moved by whole turns into the limits, and counts only if the chain's own forward
// kinematics confirm it: axes that a plan takes for parallel or meeting may be off by the rounding
// of a file's numbers, which steps of the descent correct.
//
// From a seed close to the solution, as when a target is tracked, a few steps of the descent are
// faster than all branches; from anywhere else the branches are, and they never need a second
// start.
//
// Two families of arms have branches. Both solve e1 e2 ... en = Q with Q = T inverse(M), or its
// inverse, read from the tip, by `place` (a point) and `turn` (a rotation).
//
// place_then_turn: the last axes meet in c. The joints before place it: e1 e2 e3 c = Q c. The
// others turn: R4 R5 R6 = R3' R2' R1' R.
//
// turn_then_place: neighbouring axes are parallel to h, with at most one joint before and two
// behind them. The invariants of parallel axes give the joint before:
//
//     h . (inverse(e1) Q c) = h . c    c on all axes behind, if they meet
//     h . (inverse(R1) R w) = h . w    w the only axis behind
//     inverse(R1) R h = h              if there is none
//
// (Hawkins, "Analytic inverse kinematics for the Universal Robots", 2013, for one such arm; Elias
// and Wen, "IK-Geo", Mechanism and Machine Theory 2025, for the general view.) If two axes behind
// do not meet, both equations hold for a point and the direction of the last one, and give the
// joint before and the first one behind together. Then the parallel axes act as one turn about h,
// which makes up a rotation with the axes behind; a planar arm remains.
#pragma once

#include "../search.hpp"
#include "subproblems.hpp"

namespace arm {

// Excess over a limit [rad, or fraction of the arm's length] up to which the limit is tried.
constexpr double SLACK = 5e-5;

// Whether whole turns bring the first joints of a plan inside the limits.
inline bool fits(const Chain& c, const Plan& plan, int joints, const Branch& branch) {
  for (int joint = 0; joint < joints; ++joint) {
    const int i = plan.order(joint, c.n);
    const double width = c[i].upper - c[i].lower, period = c[i].period;
    if (!(width < period && i < c.n - plan.kept)) continue;
    double above = branch.joints[joint].q - c[i].lower;
    above -= period * std::floor((above + SLACK) / period);
    if (above > width + SLACK) return false;
  }
  return true;
}

// inverse(Rot(j, q)) R.
[[gnu::always_inline]] inline Rotation turned_back(const PlanJoint& j, Coordinate at,
                                                   const Rotation& R) {
  return j.slides != 0.0 ? R : turned(j.direction, -at.phi.second, at.phi.first, R);
}

inline void place_then_turn(const Chain& c, const Plan& plan, const Motion& Q, const Branch& seed,
                            Branches& out) {
  const int before = static_cast<int>(plan.before), after = static_cast<int>(plan.after);
  const Vector target = Q * plan.centre;
  Branches halves;
  place(plan, 0, before, plan.centre, target, seed, after == 0 ? out : halves);
  for (const Branch& half : halves) {
    if (!half.is_unsure && !fits(c, plan, before, half)) continue;
    Rotation R = Q.rotation;
    for (int joint = 0; joint < before; ++joint)
      R = turned_back(plan.joints[joint], half.joints[joint], R);
    turn(plan, plan.joints[before].direction, {before}, after - 1, c.n, R, half, out);
  }
}

// Adds branches with the parallel axes, whose turn together and the joints behind are known.
inline void add_parallel(const Plan& plan, const Motion& Q, const Branch& source, Branches& out) {
  const int before = static_cast<int>(plan.before), after = static_cast<int>(plan.after);
  const int parallel = static_cast<int>(plan.parallel), last = before + parallel - 1;
  Vector target = plan.centre;
  for (int joint = last + 1; joint < last + 1 + after; ++joint)
    target = moved_back(plan.joints[joint], source.joints[joint], target);
  target = Q * target;
  const int first = out.count;
  place(plan, before, parallel - 1, plan.centre, target, source, out);
  for (int i = first; i < out.count; ++i) {
    Branch& branch = out.items[i];
    Coordinate angle = branch.turn;
    for (int joint = before; joint < last; ++joint)
      angle = angle + -plan.joints[joint].sense * branch.joints[joint];
    branch.joints[last] = plan.joints[last].sense * angle;
  }
}

// Adds branches with the parallel axes and those behind them.
inline void add_planar(const Plan& plan, int n, const Motion& Q, const Branch& source,
                       Branches& out) {
  Branches turns;
  turn(plan, plan.normal_0, {-1}, static_cast<int>(plan.after), n, Q.rotation, source, turns);
  for (const Branch& branch : turns) add_parallel(plan, Q, branch, out);
}

// The roots for the joint before the parallel axes.
inline Roots roots_before(const Plan& plan, const Motion& Q) {
  const Vector h = plan.normal_0, target = Q * plan.meet;
  const PlanJoint& j = plan.joints[0];
  const Vector w = j.direction;
  if (j.slides != 0.0)
    return roots(true, -dot(h, w), 0.0, dot(h, plan.meet - target), plan.length);
  if (plan.after == 0.0) return {1, {angle_to(w, h, Q.rotation * h)}};
  Vector arm = target - j.point;
  double size = plan.length, wanted = dot(h, plan.meet - j.point);
  if (plan.after == 1.0) {
    const Vector axis = plan.joints[1 + static_cast<int>(plan.parallel)].direction;
    const Vector seen = Q.rotation * axis, reach = cross(w, arm), tilt = cross(w, seen);
    if (dot(reach, reach) < size * size * dot(tilt, tilt))
      arm = seen, wanted = dot(h, axis), size = 1.0;
  }
  const double level = dot(h, w) * dot(w, arm);  // h . inverse(R1) arm = level + a cos q + b sin q
  return roots(false, dot(h, arm) - level, dot(h, cross(arm, w)), wanted - level, size);
}

inline void turn_then_place(const Plan& plan, int n, const Motion& Q, const Branch& seed,
                            Branches& out) {
  if (plan.before == 0.0) return add_planar(plan, n, Q, seed, out);
  const PlanJoint& j = plan.joints[0];
  const auto behind_first = [&](Coordinate at) {
    return Motion{turned_back(j, at, Q.rotation), moved_back(j, at, Q.position)};
  };
  if (plan.first == BOTH) {
    Branches ends;
    place_both_ends(plan, Q, seed, ends);
    for (Branch& branch : ends) {
      const Motion behind = behind_first(branch.joints[0]);
      fill_outer_turns(plan, plan.normal_0, {-1}, n - 2, behind.rotation, branch);
      add_parallel(plan, behind, branch, out);
    }
    return;
  }
  const Roots first = roots_before(plan, Q);
  for (int i = 0; i < first.count; ++i) {
    Branch half = seed;
    half.is_unsure = first.is_free;
    if (!first.is_free) half.joints[0] = first.at[i];
    add_planar(plan, n, behind_first(half.joints[0]), half, out);
  }
}

// Largest error [rad, or fraction of the arm's length] of a branch that is still polished.
constexpr double NEARLY_EXACT = 1e-3;
constexpr double ROUNDING = 1e-9;  // excess above which a whole turn inside the limits is better
constexpr double SAME_BRANCH = 1e-6;  // solutions nearer than this in every joint are the same

// q moved by whole turns inside the limits, up to the slack, if possible.
inline double turned_inside(double q, const Joint& j) {
  if (q > j.upper + SLACK)
    q -= j.period * std::ceil((q - j.upper - SLACK) / j.period);
  else if (q < j.lower - SLACK)
    q += j.period * std::ceil((j.lower - SLACK - q) / j.period);
  if (q > j.upper + ROUNDING && q - j.period >= j.lower)
    q -= j.period;
  else if (q < j.lower - ROUNDING && q + j.period <= j.upper)
    q += j.period;
  return q;
}

// Fills the i-th joint of W with that of a branch, moved by whole turns and clipped to the limits;
// returns whether it was inside them, up to the slack.
inline bool move_inside(int i, Coordinate at, double length, Workspace& W) {
  const Joint& j = W.chain[i];
  double q = at.q;
  const double gap = W[i].preferred - q;
  if (j.period != 0.0 && std::abs(gap) > 0.5 * j.period)
    q += j.period * std::floor(gap / j.period + 0.5);
  bool inside = true;
  if (!(j.lower <= q && q <= j.upper)) {
    const double slack = j.period != 0.0 ? SLACK : SLACK * length;
    if (j.period != 0.0) q = turned_inside(q, j);
    inside = j.lower - slack <= q && q <= j.upper + slack;
    if (q != clipped(q, j)) at = coordinate(j.prismatic != 0.0, q = clipped(q, j));
  }
  W[i].q = W.position[i] = q;
  W.sine[i] = at.phi.second;
  W.cosine[i] = at.phi.first;
  return inside;
}

// Fills W with a branch, or its kept joints with the seed; returns whether all were inside.
inline bool move_inside(const Plan& plan, const Branch& seed, const Branch& branch, Workspace& W) {
  bool inside = true;
  for (int i = 0; i < W.n; ++i) {
    const Coordinate& at = (i < W.n - plan.kept ? branch : seed).joints[plan.order(i, W.n)];
    inside = move_inside(i, at, plan.length, W) && inside;
  }
  return inside;
}

// Whether the posture in W is a solution, after polishing it if necessary.
inline bool is_solution(double length, Problem& W) {
  move(W);
  W.cost = measure(W, W.error);
  if (quality(*W.opt, W.error, W.cost) == EXACT) return true;
  const double off = largest_component(W.error.position);
  const double tilted = largest_component(W.error.orientation);
  if (!(off <= NEARLY_EXACT * length && tilted <= NEARLY_EXACT)) return false;
  return descend(W) == EXACT;
}

// Adds the solution in q unless the result holds it, nearest to the seed first.
inline void add_solution(const Problem& W, Result out) {
  int slot = out.solutions();
  if (slot == out.slots || !is_new(W, out, SAME_BRANCH)) return;
  write_solution(W, out, slot);
  out.head().solutions += 1.0;
  for (; slot > 0 && out.distance(slot) < out.distance(slot - 1); --slot)
    std::swap_ranges(out.q(slot - 1), out.q(slot), out.q(slot));
}

// Adds all branches of the target T.
inline void fill_branches(const Chain& c, const Plan& plan, const Motion& T, const Branch& seed,
                          Branches& out) {
  const Motion& H = plan.home_inverse;
  Motion Q = {T.rotation * H.rotation, T * H.position};
  if (plan.reversed != 0.0) Q = inverse(Q);
  if (plan.kind() == Family::place_then_turn)
    place_then_turn(c, plan, Q, seed, out);
  else
    turn_then_place(plan, c.n, Q, seed, out);
}

// The seed, clipped to the limits, as a branch.
inline Branch branch_of_seed(const Plan& plan, const double* seed, Workspace& W) {
  const Chain& c = W.chain;
  for (int i = 0; i < W.n; ++i) W.position[i] = clipped(seed[i], c[i]);
  fill_sines_and_cosines(W.n, &W.position[0], &W.sine[0], &W.cosine[0]);
  Branch branch;
  branch.is_unsure = false;
  for (int i = 0; i < W.n; ++i) {
    const double q = W.position[i];
    const Phi of_slide = {q, q * q}, of_turn = {W.cosine[i], W.sine[i]};
    branch.joints[plan.order(i, W.n)] = {q, c[i].prismatic != 0.0 ? of_slide : of_turn};
  }
  return branch;
}

// Finds every solution for a pose T (4, 4), nearest to the seed first. Joints are moved by whole
// turns towards the seed; free joints stay there. The result has a slot for each possible branch.
// Returns the number of solutions, or REFUSED.
inline int solve_all(const Chain& c, const Options& opt, const Plan& plan, const Pose& T, Row seed,
                     Result out) {
  if (!is_valid(T, seed)) return REFUSED;
  Problem W(c, opt, T.motion(), seed);
  const Branch start = branch_of_seed(plan, seed, W);
  Branches branches;
  fill_branches(c, plan, T.motion(), start, branches);
  out.head() = {};
  for (const Branch& branch : branches) {
    // Of infinitely many (unsure), another one than this may be inside the limits.
    const bool solves = move_inside(plan, start, branch, W)
                            ? is_solution(plan.length, W)
                            : branch.is_unsure && descend(W) == EXACT;
    if (!solves) continue;
    if (branch.is_unsure) out.head().singular = 1.0;
    add_solution(W, out);
  }
  return out.solutions();
}

// Does the same with given postures as branches; `length` is that of the arm.
inline int solve_given(const Chain& c, const Options& opt, double length, Rows postures,
                       const Pose& T, Row seed, Result out) {
  if (!is_valid(T, seed)) return REFUSED;
  Problem W(c, opt, T.motion(), seed);
  out.head() = {};
  for (int row = 0; row < postures.count; ++row) {
    bool inside = true;
    for (int i = 0; i < W.n; ++i) {
      const Coordinate at = coordinate(c[i].prismatic != 0.0, postures[row][i]);
      inside = move_inside(i, at, length, W) && inside;
    }
    if (inside && is_solution(length, W)) add_solution(W, out);
  }
  return out.solutions();
}

constexpr int TRACKED = 5;  // number of joints from which on a few steps of descent are faster
// Distance of the seed's tip from the target up to which it is near: [rad], and as a fraction of
// the arm's length.
constexpr double NEAR_ORIENTATION = 0.5, NEAR_POSITION = 0.2;
constexpr double FAR = 0.7;  // motion [rad, or units of the joint] after which another solution
                             // may be nearer

// Whether the tip is near the target, and a descent leads to a nearby posture, the first slot.
inline bool descend_nearby(double length, Problem& W, Result out) {
  measure_seed(W);
  const double off = arm::length(W.error.position) / (NEAR_POSITION * length);
  const double tilted = arm::length(W.error.orientation);
  if (off > 1.0 || tilted > NEAR_ORIENTATION || descend(W) == FAILED) return false;
  write_solution(W, out, 0);
  const double far = std::min(FAR, LEAP + LEAP_BY_ERROR * (tilted + off));
  for (int i = 0; i < W.n; ++i)
    if (std::abs(out.q(0)[i] - W.seed[i]) > far * W.chain[i].unit) return false;
  return true;
}

// Fills the distances of branches, infinite outside the limits. Returns false if a branch with
// free joints is outside: another choice may be inside.
inline bool fill_distances(const Plan& plan, const Branch& start, Branches& branches, Problem& W) {
  for (Branch& branch : branches) {
    branch.distance = INFINITE;
    if (move_inside(plan, start, branch, W)) {
      branch.distance = 0.0;
      for (int i = 0; i < W.n; ++i) {
        const double gap = W[i].q - W.seed[i];
        branch.distance += W.opt->joint_weights()[i] * gap * gap;
      }
    } else if (branch.is_unsure) {
      return false;
    }
  }
  return true;
}

// Writes the branch nearest to the seed that is a solution to the first slot; returns whether
// there is one.
inline bool solve_nearest_branch(const Plan& plan, const Pose& T, Row seed, Problem& W,
                                 Result out) {
  const Branch start = branch_of_seed(plan, seed, W);
  Branches branches;
  fill_branches(W.chain, plan, T.motion(), start, branches);
  if (!fill_distances(plan, start, branches, W))
    return solve_all(W.chain, *W.opt, plan, T, seed, out) > 0;
  const auto is_nearer = [](const Branch& a, const Branch& b) { return a.distance < b.distance; };
  for (int tries = branches.count; tries > 0; --tries) {
    Branch& nearest = *std::min_element(branches.begin(), branches.end(), is_nearer);
    if (move_inside(plan, start, nearest, W) && is_solution(plan.length, W)) {
      write_solution(W, out, 0);
      out.head().singular = nearest.is_unsure ? 1.0 : 0.0;
      return true;
    }
    nearest.distance = INFINITE;
  }
  return false;
}

// Finds the solution nearest to the seed; only that one is counted. `opt` are the options of a
// descent, `exact` those of the branches. It searches without a plan, and if the closed form has
// no solution: the target may be off the exact poses of an arm of few joints. `out` has
// MAX_BRANCHES slots if there is a plan; the first counts.
inline int solve_nearest(const Chain& c, const Options& opt, const Options& exact,
                         const Plan* plan, const Pose& T, Row seed, Result out) {
  out.head() = {};
  if (!is_valid(T, seed)) return REFUSED;
  if (plan != nullptr) {
    Problem W(c, opt, T.motion(), seed);
    if (accept_seed(W)) return write_first(W, out);
    const bool is_tracked = c.n >= TRACKED && opt.starts > 0.0;
    bool is_solved = is_tracked && descend_nearby(plan->length, W, out);
    if (!is_solved) {
      W.opt = &exact;
      is_solved = solve_nearest_branch(*plan, T, seed, W, out);
    }
    if (is_solved) {
      out.head().solutions = 1.0;
      return 1;
    }
  }
  return search(c, opt, T, seed, {out.numbers, 1, c.n});
}

using ResultNumbers = Buffer<double, Result::size(PLAN_JOINTS, MAX_BRANCHES)>;

// Finds the nearest solution for each target; a row of numbers for each result of one slot.
inline void solve_many(const Chain& c, const Options& opt, const Options& exact, const Plan* plan,
                       Poses Ts, Rows seeds, RowsToFill out) {
  const int size = Result::size(c.n, 1), slots = plan == nullptr ? 1 : MAX_BRANCHES;
  require(Ts.size == out.count && seeds.count == out.count && out.size == size,
          "a result for each target and seed");
  ResultNumbers numbers(Result::size(c.n, slots));
  std::fill(&numbers[0], &numbers[0] + size, 0.0);
  for (int k = 0; k < out.count; ++k) {
    solve_nearest(c, opt, exact, plan, Ts[k], seeds[k], {&numbers[0], slots, c.n});
    std::copy(&numbers[0], &numbers[0] + size, out[k].values);
  }
}

// Writes the branches inside the limits for each target, NaN where there is none; the rows are
// those of the first branches, then of the second ones. Joints are moved
// by whole turns towards the seed.
inline void fill_postures(const Chain& c, const Plan& plan, Poses Ts, Row seed, RowsToFill out) {
  require(out.count == MAX_BRANCHES * Ts.size && out.size == c.n, "a row for each branch");
  Workspace W(c);
  for (int i = 0; i < c.n; ++i) W[i].preferred = seed[i];
  const Branch start = branch_of_seed(plan, seed, W);
  for (int k = 0; k < Ts.size; ++k) {
    Branches branches;
    fill_branches(c, plan, Ts[k].motion(), start, branches);
    for (int b = 0; b < MAX_BRANCHES; ++b) {
      const bool inside = b < branches.count && move_inside(plan, start, branches.items[b], W);
      for (int i = 0; i < c.n; ++i)
        out[b * Ts.size + k][i] = inside ? W[i].q : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace arm