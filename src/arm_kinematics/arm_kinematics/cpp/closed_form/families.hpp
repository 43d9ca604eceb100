// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Branches of both families of arms, not yet inside any limits.
//
// Both solve e1 e2 ... en = Q with Q = T inverse(M), or its inverse, read from the tip, by `place`
// (a point) and `turn` (a rotation).
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

#include "../chain.hpp"
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

}  // namespace arm
