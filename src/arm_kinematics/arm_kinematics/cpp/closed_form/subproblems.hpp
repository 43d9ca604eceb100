// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Subproblems: up to three joints place a point (`place`) or make a rotation (`turn`).
//
// Joints of any kind bring a point c to its place c'. With x = e2 y(q3) = z(q1), y = e3 c and
// z = inverse(e1) c', the invariants of joint 2 are equal for y and z. If it turns about w through
// p they are w . (x - p) and |x - p|^2 (Pieper, "The kinematics of manipulators under computer
// control", Stanford 1968), if it slides, two coordinates across it. All four are linear in
// phi(q), see roots.hpp:
//
//     r1 + R1 phi(q1) = r3 + R3 phi(q3)      s1 + S1 phi(q1) = s3 + S3 phi(q3)
//
// Where neighbouring axes are parallel or meet, one of R1, S1, R3, S3 vanishes for a suitable p:
// then one joint is alone in an equation, and the other follows from the other equation. Otherwise
// phi(q1) is a linear function of phi(q3). With t = tan(q3 / 2), or t = q3 if it slides, both
// parts are quadratics over 1 + t^2, or over 1, and their relation (c^2 + s^2 = 1, or the second
// is the square of the first) is a quartic. Joint 2 follows last.
//
// A rotation R is R4, R4 R5 or R4 R5 R6 about given axes. With three the polar angle of R w6 from
// w4 is that of R5 w6, which gives q5 by the spherical law of cosines, in the half-angle form that
// keeps its digits where the wrist is straight. The other two are subproblem 1 of Paden and Kahan
// (Murray, Li and Sastry, "A Mathematical Introduction to Robotic Manipulation", 1994, section
// 3.3.2): q4 turns R5 w6 to R w6, and since R5 w5 = w5, q6 turns R' R4 w5 to w5.
#pragma once

#include "plan.hpp"

namespace arm {

inline Linear combined(double k, Linear a, double m, Linear b) {
  return {k * a.k + m * b.k, k * a.a + m * b.a, k * a.b + m * b.b};
}

// f with q3 counted from `start`.
inline Linear counted_from(double start, Linear f) {
  const double k = std::cos(start), s = std::sin(start);
  return {f.k, f.a * k + f.b * s, f.b * k - f.a * s};
}

// The quarter turn q3 opposite to which the equation is farthest from holding: there t is
// infinite, so it must not be a root.
inline double away_from_roots(bool slides_1, Linear f, Linear g) {
  double best = -1.0, start = 0.0;
  for (int quarter = 0; quarter < 4; ++quarter) {
    const double k = quarter % 2 == 0 ? 1.0 - quarter : 0.0;
    const double s = quarter % 2 == 0 ? 0.0 : 2.0 - quarter;
    const double u = f.k - f.a * k - f.b * s, v = g.k - g.a * k - g.b * s;
    const double off = std::abs(slides_1 ? u * u - v : u * u + v * v - 1.0);
    if (off > best) best = off, start = 0.5 * PI * quarter;
  }
  return start;
}

// The equation of q1 and q3 as a polynomial in t.
inline Polynomial quartic(bool slides_1, bool slides_3, Linear f, Linear g) {
  const double d2 = slides_3 ? 0.0 : 1.0;  // d = 1 + d2 t^2
  const auto in_t = [&](Linear h) {
    return slides_3 ? h : Linear{h.k + h.a, 2.0 * h.b, h.k - h.a};
  };
  const auto [x0, x1, x2] = in_t(f);
  const auto [y0, y1, y2] = in_t(g);
  Polynomial p{4, {x0 * x0, 2.0 * x0 * x1, x1 * x1 + 2.0 * x0 * x2, 2.0 * x1 * x2, x2 * x2}};
  const double of_slide[] = {-y0, -y1, -(y2 + y0 * d2), -y1 * d2, -y2 * d2};  // x^2 = y d
  const double of_turn[] = {y0 * y0 - 1.0, 2.0 * y0 * y1, y1 * y1 + 2.0 * y0 * y2 - 2.0 * d2,
                            2.0 * y1 * y2, y2 * y2 - d2 * d2};  // x^2 + y^2 = d^2
  for (int i = 0; i <= 4; ++i) p.a[i] += slides_1 ? of_slide[i] : of_turn[i];
  return p;
}

// Two equations r1 = r3 and s1 = s3, linear in the phi of a joint on either side.
struct TwoEquations {
  Linear r1, s1, r3, s3;
  double determinant() const { return r1.a * s1.b - r1.b * s1.a; }
};

// Adds branches with the joints `one` and `three` from two equations: phi(q1) = (f, g) . (1,
// phi(q3)).
inline void add_both(const Plan& plan, int one, int three, const TwoEquations& both,
                     const Branch& source, Branches& out) {
  const bool slides_1 = plan.slides(one), slides_3 = plan.slides(three);
  const double det = both.determinant();
  const Linear r = both.r3 - both.r1.k, s = both.s3 - both.s1.k;
  Linear f = combined(both.s1.b / det, r, -both.r1.b / det, s);
  Linear g = combined(-both.s1.a / det, r, both.r1.a / det, s);
  double start = 0.0;
  if (!slides_3) {
    start = away_from_roots(slides_1, f, g);
    f = counted_from(start, f), g = counted_from(start, g);
  }
  const RealRoots roots = real_roots(quartic(slides_1, slides_3, f, g));
  for (int i = 0; i < std::min(roots.count, MAX_DEGREE); ++i) {
    const double q = slides_3 ? roots.x[i] : 2.0 * std::atan(roots.x[i]);
    const Phi p = phi(slides_3, q);
    const double u = f.k + f.a * p.first + f.b * p.second;
    const double v = g.k + g.a * p.first + g.b * p.second;
    Branch& branch = out.add(source);
    branch.joints[three] = coordinate(slides_3, start + q);
    branch.joints[one] = slides_1 ? coordinate(true, u) : angle_of(v, u);
  }
}

// Adds branches with joint 3 from an equation of it alone; joint 1 does not move the target and
// stays at the seed, as joint 3 does if it is free.
inline void add_third(const Plan& plan, Linear r, const Branch& source, Branches& out) {
  const Roots third = roots(plan.slides(2), r.a, r.b, -r.k, size_of(plan, 0, 1));
  for (int i = 0; i < third.count; ++i) {
    Branch& branch = out.add(source);
    branch.is_unsure = true;
    if (!third.is_free) branch.joints[2] = third.at[i];
  }
}

// Adds branches with three joints from the paths of z (joint 1) and y (joint 3), by the quartic.
inline void place_by_quartic(const Plan& plan, const Path& on_1, const Path& on_3,
                             const Branch& source, Branches& out) {
  const TwoEquations both = {invariant(plan, 0, 1, 0, on_1), invariant(plan, 1, 1, 0, on_1),
                             invariant(plan, 0, 1, 2, on_3), invariant(plan, 1, 1, 2, on_3)};
  double size = size_of(plan, 0, 1) * size_of(plan, 1, 1);
  if (plan.slides(0)) size /= size_of(plan, 0, 1);
  const int first = out.count;
  if (std::abs(both.determinant()) <= VANISHED * size)
    add_third(plan, both.r3 - both.r1.k, source, out);
  else
    add_both(plan, 0, 2, both, source, out);
  for (int i = first; i < out.count; ++i) {
    Branch& branch = out.items[i];
    swing(plan, 1, on_3(branch.joints[2].phi), on_1(branch.joints[0].phi), branch);
  }
}

inline Linear component(Vector h, const Path& on) {
  return {dot(h, on.o), dot(h, on.C), dot(h, on.D)};
}

// The path, as of a point, of a direction turned by a joint, or back.
inline Path path_of_direction(const PlanJoint& j, Vector v, double sense) {
  return j.slides != 0.0 ? Path{v, {}, {}} : path({j.direction, {}, 0.0, j.sense}, v, sense);
}

// Adds branches with the joint before parallel axes and the first of two behind them. A point p
// and the direction w of the last axis keep their components along the parallel axes:
// h . e5 p = h . inverse(e1) Q p and h . R5 w = h . inverse(R1) R w.
inline void place_both_ends(const Plan& plan, const Motion& Q, const Branch& source,
                            Branches& out) {
  const Vector h = plan.normal_0;
  const int five = 1 + static_cast<int>(plan.parallel);
  const PlanJoint &before = plan.joints[0], &joint_5 = plan.joints[five];
  const PlanJoint& last = plan.joints[five + 1];
  const TwoEquations both = {
      // the determinant is a property of the arm, far from 0
      component(h, path(joint_5, last.point, 1.0)),
      component(h, path_of_direction(joint_5, last.direction, 1.0)),
      component(h, path(before, Q * last.point, -1.0)),
      component(h, path_of_direction(before, Q.rotation * last.direction, -1.0))};
  add_both(plan, five, 0, both, source, out);
}

// Solves like `place` for joints `at` and `at + 1`, the second by an invariant.
inline void place_by_two(const Plan& plan, int at, Vector c, Vector target, const Branch& source,
                         Branches& out) {
  const int which = static_cast<int>(plan.invariant), second = at + 1;
  const Path on = path(plan.joints[second], c, 1.0);
  const auto [k, a, b] = invariant(plan, which, at, second, on);
  const double wanted = invariant(plan, which, at, at, {target, {}, {}}).k;
  const bool slides = plan.slides(second);
  const Roots roots_2 = roots(slides, a, b, wanted - k, size_of(plan, which, at));
  for (int i = 0; i < roots_2.count; ++i) {
    Branch& branch = out.add(source);
    if (!roots_2.is_free) branch.joints[second] = roots_2.at[i];
    branch.is_unsure = branch.is_unsure || roots_2.is_free;
    swing(plan, at, on(branch.joints[second].phi), target, branch);
  }
}

// Solves for the outer joint alone in an equation, then the other one, then the middle one.
inline void place_by_three(const Plan& plan, Vector c, Vector target, const Branch& source,
                           Branches& out) {
  const Path on_1 = path(plan.joints[0], target, -1.0), on_3 = path(plan.joints[2], c, 1.0);
  if (plan.first == BOTH) return place_by_quartic(plan, on_1, on_3, source, out);
  const bool in_order = plan.first == 0.0;
  const int lead = in_order ? 0 : 2, follow = 2 - lead;
  const Path &on_lead = in_order ? on_1 : on_3, &on_follow = in_order ? on_3 : on_1;
  const int r = static_cast<int>(plan.invariant), s = 1 - r;
  const auto [k, a, b] = invariant(plan, r, 1, lead, on_lead);
  const double wanted = invariant(plan, r, 1, follow, on_follow).k;
  const auto [k1, a1, b1] = invariant(plan, s, 1, lead, on_lead);
  const auto [k2, a2, b2] = invariant(plan, s, 1, follow, on_follow);
  const Roots leading = roots(plan.slides(lead), a, b, wanted - k, size_of(plan, r, 1));
  for (int i = 0; i < leading.count; ++i) {
    const Coordinate at = leading.is_free ? source.joints[lead] : leading.at[i];
    const Phi f = at.phi;
    const Vector x = on_lead(f);
    const double value = k1 + a1 * f.first + b1 * f.second - k2;
    const Roots following = roots(plan.slides(follow), a2, b2, value, size_of(plan, s, 1));
    for (int m = 0; m < following.count; ++m) {
      Branch& branch = out.add(source);
      branch.joints[lead] = at;
      if (!following.is_free) branch.joints[follow] = following.at[m];
      branch.is_unsure = branch.is_unsure || leading.is_free || following.is_free;
      const Vector y = on_follow(branch.joints[follow].phi);
      swing(plan, 1, in_order ? y : x, in_order ? x : y, branch);
    }
  }
}

// Solves for 0 to 3 joints from `at` on (0 for three), which bring the point c to the target. Adds
// a copy of the partial branch `source` with these joints filled in for each solution.
inline void place(const Plan& plan, int at, int joints, Vector c, Vector target,
                  const Branch& source, Branches& out) {
  if (joints == 3) return place_by_three(plan, c, target, source, out);
  if (joints == 2) return place_by_two(plan, at, c, target, source, out);
  Branch& branch = out.add(source);
  if (joints == 1) swing(plan, at, c, target, branch);
}

constexpr double STRAIGHT = 1e-10;  // sine of the angle below which two axes count as aligned

// The angle at joint 5 of the triangle on the sphere with sides b4, b6 and `polar`; -1 if there is
// none. tan^2(x/2) = sin((c-a+b)/2) sin((c+a-b)/2) / (sin((a+b-c)/2) sin((a+b+c)/2)).
inline double spherical_angle(double polar, double b4, double b6) {
  const double over = std::sin(0.5 * (polar - b4 + b6)) * std::sin(0.5 * (polar + b4 - b6));
  const double under = std::sin(0.5 * (b4 + b6 - polar)) * std::sin(0.5 * (b4 + b6 + polar));
  if (over < -LOST || under < -LOST) return -1.0;
  return 2.0 * std::atan2(std::sqrt(std::max(over, 0.0)), std::sqrt(std::max(under, 0.0)));
}

// The angle of a branch that a turn about w determines: of a joint, or of all parallel axes.
struct Turned {
  int joint;  // -1 for the parallel axes
  Coordinate& operator()(Branch& branch) const {
    return joint < 0 ? branch.turn : branch.joints[joint];
  }
};

// Fills in the turn about w and the last joint, five + 1; the one between them is known.
inline void fill_outer_turns(const Plan& plan, Vector w, Turned about, int five, const Rotation& R,
                             Branch& branch) {
  const Vector w5 = plan.joints[five].direction, w6 = plan.joints[five + 1].direction;
  const Vector v = R * w6;
  Coordinate &angle = about(branch), &last = branch.joints[five + 1];
  if (!is_short(cross(w, v), STRAIGHT)) {
    angle = angle_to(w, turned(w5, branch.joints[five], w6), v);
  } else {  // the outer axes are aligned, so one of them is kept at the seed
    branch.is_unsure = true;
    if (about.joint < 0) angle = angle_to(w, w5, R * turned_back(w6, last, w5));
  }
  last = angle_to(w6, rotated_back(R, turned(w, angle, w5)), w5);
}

// Adds branches of R as three turns: about w and the last two of n joints.
inline void add_three_turns(const Plan& plan, Vector w, Turned about, int n, const Rotation& R,
                            const Branch& source, Branches& out) {
  const int five = n - 2;
  const Vector v = R * plan.joints[five + 1].direction;
  const bool is_square = plan.bend_4 == 0.5 * PI && plan.bend_6 == 0.5 * PI;
  const Coordinate zero = coordinate(false, plan.zero);
  Coordinate bend = angle_of(length(cross(w, v)), dot(w, v));
  if (!is_square) bend = coordinate(false, spherical_angle(bend.q, plan.bend_4, plan.bend_6));
  if (bend.q < 0.0) return;
  Branch& first = out.add(source);
  first.joints[five] = zero + bend;
  fill_outer_turns(plan, w, about, five, R, first);
  if (bend.q <= STRAIGHT || PI - bend.q <= STRAIGHT) return;
  Branch& second = out.add(source);
  second.joints[five] = zero + -1.0 * bend;
  if (is_square) {  // the same wrist, turned over
    about(second) = half_a_turn_from(about(first));
    second.joints[five + 1] = half_a_turn_from(first.joints[five + 1]);
  } else {
    fill_outer_turns(plan, w, about, five, R, second);
  }
}

// Adds branches of R as turns about w and the last 0 to 2 (more) of n joints.
inline void turn(const Plan& plan, Vector w, Turned about, int more, int n, const Rotation& R,
                 const Branch& source, Branches& out) {
  if (more == 2) return add_three_turns(plan, w, about, n, R, source, out);
  Branch& branch = out.add(source);
  if (more == 0) {
    about(branch) = angle_about(w, R);
    return;
  }
  const Vector w5 = plan.joints[n - 1].direction;
  branch.joints[n - 1] = angle_to(w5, rotated_back(R, w), w);
  about(branch) = angle_to(w, w5, R * w5);
}

}  // namespace arm
