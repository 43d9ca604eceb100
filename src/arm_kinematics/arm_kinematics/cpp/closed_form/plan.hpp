// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The plan that describes a closed form, its branches, and the invariants of a joint.
//
// A plan takes the joints in the order of the chain, or of the chain read from its tip:
// inverse(e1 e2 ... en) = inverse(en) ... inverse(e1), with reversed axes.
#pragma once

#include "roots.hpp"

namespace arm {

enum class Family { place_then_turn, turn_then_place };  // as in kernels/layout.py
constexpr double BOTH = -1.0;
constexpr int PLAN_JOINTS = 6, MAX_BRANCHES = 8;

struct PlanJoint {
  Vector direction, point;  // of the axis
  double slides;            // 1 or 0
  double sense;             // 1 or -1, among parallel axes
};

// Its fields are those of PLAN in kernels/layout.py, filled by ik/closed_form.py.
struct Plan {
  double family;     // a Family
  double reversed;   // 1 if the joints are counted from the tip
  double before;     // joints that bring a point to its place (0 to 3), or before parallel axes
  double parallel;   // parallel axes (2 or 3); 0 in the other family
  double after;      // joints after these, which turn about one point (0 to 3)
  double kept;       // last joints of the chain that do not affect the target
  double first;      // which joint of three is found first: 0, 2, or BOTH for a quartic in both;
                     // BOTH if the axes behind parallel ones do not meet
  double invariant;  // from which invariant: 0 or 1
  double length;     // of the arm [m]
  Motion home_inverse;          // inverse(M)
  Vector centre;                // the point that is brought to its place
  Vector meet;                  // where the axes of `after` meet
  Vector pivot;                 // the second of three joints: a point on its axis or a normal,
  Vector normal_0, normal_1;    // its direction or a normal
  double zero, bend_4, bend_6;  // of the three axes of a wrist
  PlanJoint joints[PLAN_JOINTS];

  Family kind() const { return family == 0.0 ? Family::place_then_turn : Family::turn_then_place; }
  bool slides(int joint) const { return joints[joint].slides != 0.0; }
  // The place of the i-th joint of a chain of n in the order of the plan, and vice versa.
  int order(int i, int n) const { return reversed != 0.0 ? n - 1 - i : i; }
};

// A branch, complete or not: joints in the plan's order.
struct Branch {
  Coordinate joints[PLAN_JOINTS];
  Coordinate turn;  // of all parallel axes together
  bool is_unsure;   // a joint was free and kept at the seed
  double distance;  // weighted square of the distance from the seed
};

struct Branches {
  int count = 0;
  Branch items[MAX_BRANCHES];

  Branch& add(const Branch& branch) {
    const int last = std::min(count, MAX_BRANCHES - 1);
    count = last + 1;
    return items[last] = branch;
  }
  Branch* begin() { return items; }
  Branch* end() { return items + count; }
};

[[gnu::always_inline]] inline Vector turned(Vector w, Coordinate angle, Vector a) {
  return turned(w, angle.phi.second, angle.phi.first, a);
}

[[gnu::always_inline]] inline Vector turned_back(Vector w, Coordinate angle, Vector a) {
  return turned(w, -angle.phi.second, angle.phi.first, a);
}

// The point x moved back by a joint.
inline Vector moved_back(const PlanJoint& j, Coordinate at, Vector x) {
  if (j.slides != 0.0) return x - at.q * j.direction;
  return turned_back(j.direction, at, x - j.point) + j.point;
}

// The turn about w that brings a nearest to b (subproblem 1 of Paden and Kahan).
[[gnu::always_inline]] inline Coordinate angle_to(Vector w, Vector a, Vector b) {
  return angle_of(dot(w, cross(a, b)), dot(a, b) - dot(w, a) * dot(w, b));
}

// The turn about w that is nearest to R: it makes the trace of Rot(w, q)' R largest. Exact if R is
// a turn about w.
[[gnu::always_inline]] inline Coordinate angle_about(Vector w, const Rotation& R) {
  const Vector skew = {R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y};
  return angle_of(dot(w, skew), R.x.x + R.y.y + R.z.z - dot(w, R * w));
}

// The path o + (C, D) . phi(q) of a point.
struct Path {
  Vector o, C, D;
  Vector operator()(Phi f) const { return o + f.first * C + f.second * D; }
};

// The path of a point moved by a joint, or back (sense -1).
[[gnu::always_inline]] inline Path path(const PlanJoint& j, Vector x, double sense) {
  if (j.slides != 0.0) return {x, sense * j.direction, {0.0, 0.0, 0.0}};
  const Vector foot = j.point + dot(j.direction, x - j.point) * j.direction, C = x - foot;
  return {foot, C, sense * cross(j.direction, C)};
}

// k + (a, b) . phi(q).
struct Linear {
  double k, a, b;
  Linear operator-(double constant) const { return {k - constant, a, b}; }
};

// The invariant of joint `middle` along a path that `joint` makes.
[[gnu::always_inline]] inline Linear invariant(const Plan& plan, int which, int middle, int joint,
                                               const Path& on) {
  const Vector from_pivot = on.o - plan.pivot;
  if (which == 0 || plan.slides(middle)) {
    const Vector n = which == 0 ? plan.normal_0 : plan.normal_1;
    return {dot(n, from_pivot), dot(n, on.C), dot(n, on.D)};
  }
  const double square = dot(from_pivot, from_pivot), a = 2.0 * dot(from_pivot, on.C);
  if (plan.slides(joint)) return {square, a, 1.0};
  return {square + dot(on.C, on.C), a, 2.0 * dot(from_pivot, on.D)};
}

// The order of magnitude of an invariant.
inline double size_of(const Plan& plan, int which, int middle) {
  return which == 0 || plan.slides(middle) ? plan.length : plan.length * plan.length;
}

// Solves for the joint that brings x to y; with x on its axis it stays at the seed.
inline void swing(const Plan& plan, int joint, Vector x, Vector y, Branch& branch) {
  const PlanJoint& j = plan.joints[joint];
  const Vector a = x - j.point;
  if (j.slides != 0.0)
    branch.joints[joint] = coordinate(true, dot(j.direction, y - x));
  else if (is_short(cross(j.direction, a), VANISHED * plan.length))
    branch.is_unsure = true;
  else
    branch.joints[joint] = angle_to(j.direction, a, y - j.point);
}

}  // namespace arm
