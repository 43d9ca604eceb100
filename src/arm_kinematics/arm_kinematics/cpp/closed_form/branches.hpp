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
inline bool move_inside(const Joint& j, int i, Coordinate at, double length, Workspace& W) {
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
inline bool move_inside(const Chain& c, const Plan& plan, const Branch& seed, const Branch& branch,
                        Workspace& W) {
  bool inside = true;
  for (int i = 0; i < c.n; ++i) {
    const int k = plan.reversed != 0.0 ? c.n - 1 - i : i;
    const Coordinate& at = (i < c.n - plan.kept ? branch : seed).joints[k];
    inside = move_inside(c[i], i, at, plan.length, W) && inside;
  }
  return inside;
}

// Whether the posture in W is a solution, after polishing it if necessary.
inline bool is_solution(const Chain& c, const Options& opt, double length, Workspace& W) {
  move(c, W);
  W.cost = measure(opt, W, W.error);
  if (quality(opt, W.error, W.cost) == EXACT) return true;
  const double off = largest_component(W.error.position);
  const double tilted = largest_component(W.error.orientation);
  if (!(off <= NEARLY_EXACT * length && tilted <= NEARLY_EXACT)) return false;
  return descend(c, opt, W) == EXACT;
}

// Sorts the last slot into those above, by distance from the seed.
inline void sort_last(const Result& out, int last) {
  int slot = last;
  while (slot > 0 && out.distance(last) < out.distance(slot - 1)) --slot;
  if (slot == last) return;
  Buffer<double, PLAN_JOINTS + 9> row(out.width());
  std::copy(out.q(last), out.q(last) + out.width(), &row[0]);
  std::copy_backward(out.q(slot), out.q(last), out.q(last + 1));
  std::copy(&row[0], &row[0] + out.width(), out.q(slot));
}

// Adds the solution in q unless the result holds it.
inline void add_solution(const Chain& c, const Options& opt, const double* seed,
                         const Workspace& W, const Result& out) {
  const int count = static_cast<int>(out.head->solutions);
  if (count == out.slots || !is_new(c, W, out, count, SAME_BRANCH)) return;
  write_solution(c, opt, seed, W, out, count);
  sort_last(out, count);
  out.head->solutions += 1.0;
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
inline Branch branch_of_seed(const Chain& c, const Plan& plan, const double* seed, Workspace& W) {
  for (int i = 0; i < c.n; ++i) W.position[i] = clipped(seed[i], c[i]);
  fill_sines_and_cosines(c.n, &W.position[0], &W.sine[0], &W.cosine[0]);
  Branch branch;
  branch.is_unsure = false;
  for (int i = 0; i < c.n; ++i) {
    const double q = W.position[i];
    const Phi of_slide = {q, q * q}, of_turn = {W.cosine[i], W.sine[i]};
    branch.joints[plan.reversed != 0.0 ? c.n - 1 - i : i] = {
        q, c[i].prismatic != 0.0 ? of_slide : of_turn};
  }
  return branch;
}

// Finds every solution for a pose T (4, 4), nearest to the seed first. Joints are moved by whole
// turns towards the seed; free joints stay there. The result has a slot for each possible branch.
// Returns the number of solutions, or a Refusal.
inline int solve_all(const Chain& c, const Options& opt, const Plan& plan, const Pose& T, Row seed,
                     const Result& out) {
  if (const int refusal = check_request(T, seed)) return refusal;
  Workspace W(c.n);
  set_target(T.motion(), c, W);
  set_preference(c, opt, seed, W);
  const Branch start = branch_of_seed(c, plan, seed, W);
  Branches branches;
  fill_branches(c, plan, T.motion(), start, branches);
  *out.head = {};
  for (const Branch& branch : branches) {
    // Of infinitely many (unsure), another one than this may be inside the limits.
    const bool solves = move_inside(c, plan, start, branch, W)
                            ? is_solution(c, opt, plan.length, W)
                            : branch.is_unsure && descend(c, opt, W) == EXACT;
    if (!solves) continue;
    if (branch.is_unsure) out.head->singular = 1.0;
    add_solution(c, opt, seed, W, out);
  }
  return static_cast<int>(out.head->solutions);
}

// Does the same with given postures as branches; `length` is that of the arm.
inline int solve_given(const Chain& c, const Options& opt, double length, Rows postures,
                       const Pose& T, Row seed, const Result& out) {
  if (const int refusal = check_request(T, seed)) return refusal;
  Workspace W(c.n);
  set_target(T.motion(), c, W);
  set_preference(c, opt, seed, W);
  *out.head = {};
  for (int row = 0; row < postures.count; ++row) {
    bool inside = true;
    for (int i = 0; i < c.n; ++i)
      inside =
          move_inside(c[i], i, coordinate(c[i].prismatic != 0.0, postures[row][i]), length, W) &&
          inside;
    if (inside && is_solution(c, opt, length, W)) add_solution(c, opt, seed, W, out);
  }
  return static_cast<int>(out.head->solutions);
}

constexpr int TRACKED = 5;  // number of joints from which on a few steps of descent are faster
// Distance of the seed's tip from the target up to which it is near: [rad], and as a fraction of
// the arm's length.
constexpr double NEAR_ORIENTATION = 0.5, NEAR_POSITION = 0.2;
constexpr double FAR = 0.7;  // motion [rad, or units of the joint] after which another solution
                             // may be nearer

// Whether the tip is near the target, and a descent leads to a nearby posture, the first slot.
inline bool descend_nearby(const Chain& c, const Options& opt, double length, const double* seed,
                           Workspace& W, const Result& out) {
  start_at_seed(c, seed, W);
  move(c, W, &JointState::q);
  measure(opt, W, W.error);
  const double off = arm::length(W.error.position) / (NEAR_POSITION * length);
  const double tilted = arm::length(W.error.orientation);
  if (off > 1.0 || tilted > NEAR_ORIENTATION) return false;
  set_preference(c, opt, seed, W);
  if (descend(c, opt, W) == FAILED) return false;
  write_solution(c, opt, seed, W, out, 0);
  const double far = std::min(FAR, LEAP + LEAP_BY_ERROR * (tilted + off));
  for (int i = 0; i < c.n; ++i)
    if (std::abs(out.q(0)[i] - seed[i]) > far * c[i].unit) return false;
  return true;
}

// Fills the distances of branches, infinite outside the limits. Returns false if a branch with
// free joints is outside: another choice may be inside.
inline bool fill_distances(const Chain& c, const Options& opt, const Plan& plan,
                           const double* seed, const Branch& start, Branches& branches,
                           Workspace& W) {
  for (Branch& branch : branches) {
    branch.distance = INFINITE;
    if (move_inside(c, plan, start, branch, W)) {
      branch.distance = 0.0;
      for (int i = 0; i < c.n; ++i)
        branch.distance += opt.joint_weights()[i] * (W[i].q - seed[i]) * (W[i].q - seed[i]);
    } else if (branch.is_unsure) {
      return false;
    }
  }
  return true;
}

// Finds the branch nearest to the seed that is a solution, and writes it to the first slot.
inline int solve_nearest_branch(const Chain& c, const Options& opt, const Plan& plan,
                                const Pose& T, Row seed, Workspace& W, const Result& out) {
  const Branch start = branch_of_seed(c, plan, seed, W);
  Branches branches;
  fill_branches(c, plan, T.motion(), start, branches);
  if (!fill_distances(c, opt, plan, seed, start, branches, W)) {
    solve_all(c, opt, plan, T, seed, out);
    return static_cast<int>(out.head->solutions = std::min(out.head->solutions, 1.0));
  }
  const auto is_nearer = [](const Branch& a, const Branch& b) { return a.distance < b.distance; };
  for (int tries = branches.count; tries > 0; --tries) {
    Branch& nearest = *std::min_element(branches.begin(), branches.end(), is_nearer);
    if (move_inside(c, plan, start, nearest, W) && is_solution(c, opt, plan.length, W)) {
      write_solution(c, opt, seed, W, out, 0);
      out.head->solutions = 1.0;
      out.head->singular = nearest.is_unsure ? 1.0 : 0.0;
      return 1;
    }
    nearest.distance = INFINITE;
  }
  return 0;
}

// Finds the solution nearest to the seed, as `solve_all`; only that one is counted. `opt` are the
// options of a descent, `exact` those of the branches.
inline int solve_nearest(const Chain& c, const Options& opt, const Options& exact,
                         const Plan& plan, const Pose& T, Row seed, const Result& out) {
  if (const int refusal = check_request(T, seed)) return refusal;
  Workspace W(c.n);
  *out.head = {};
  set_target(T.motion(), c, W);
  if (accept_seed(c, opt, seed, W)) {
    write_solution(c, opt, seed, W, out, 0);
    out.head->solutions = 1.0;
    return 1;
  }
  if (c.n >= TRACKED && opt.starts > 0.0 && descend_nearby(c, opt, plan.length, seed, W, out)) {
    out.head->solutions = 1.0;
    return 1;
  }
  set_preference(c, exact, seed, W);
  return solve_nearest_branch(c, exact, plan, T, seed, W, out);
}

// Finds the solution nearest to the seed, by a search if the closed form has none: the target may
// be off the exact poses of an arm of few joints. `out` has MAX_BRANCHES slots, the first counts.
inline int solve_or_search(const Chain& c, const Options& opt, const Options& exact,
                           const Plan& plan, const Pose& T, Row seed, const Result& out) {
  const int solutions = solve_nearest(c, opt, exact, plan, T, seed, out);
  if (solutions != 0) return solutions;
  *out.head = {};
  return search(c, opt, T, seed, {out.head, out.table, 1, c.n});
}

// Solves each target so.
inline void solve_nearest_many(const Chain& c, const Options& opt, const Options& exact,
                               const Plan& plan, Poses Ts, Rows seeds, const Results& out) {
  require(Ts.size == out.count && seeds.count == out.count, "a result for each target and seed");
  double table[MAX_BRANCHES * (PLAN_JOINTS + 8)] = {};
  for (int k = 0; k < out.count; ++k) {
    const Result result = out[k];
    solve_or_search(c, opt, exact, plan, Ts[k], seeds[k], {result.head, table, MAX_BRANCHES, c.n});
    std::copy(table, table + result.width(), result.table);
  }
}

// Writes the branches inside the limits for each target, NaN where there is none; the rows are
// those of the first branches, then of the second ones. Joints are moved
// by whole turns towards the seed.
inline void fill_postures(const Chain& c, const Plan& plan, Poses Ts, Row seed, RowsToFill out) {
  require(out.count == MAX_BRANCHES * Ts.size && out.size == c.n, "a row for each branch");
  Workspace W(c.n);
  for (int i = 0; i < c.n; ++i) W[i].preferred = seed[i];
  const Branch start = branch_of_seed(c, plan, seed, W);
  for (int k = 0; k < Ts.size; ++k) {
    Branches branches;
    fill_branches(c, plan, Ts[k].motion(), start, branches);
    for (int b = 0; b < MAX_BRANCHES; ++b) {
      const bool inside = b < branches.count && move_inside(c, plan, start, branches.items[b], W);
      for (int i = 0; i < c.n; ++i)
        out[b * Ts.size + k][i] = inside ? W[i].q : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace arm
