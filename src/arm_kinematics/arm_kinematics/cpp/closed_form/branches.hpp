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
#pragma once

#include "../search.hpp"
#include "families.hpp"

namespace arm {

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
