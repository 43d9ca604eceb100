// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Tracing of a self-motion: the curve in the joint space of a 7R arm at one pose.
//
// Predictor and corrector (Allgower and Georg, "Numerical Continuation Methods", 1990, ch. 2): a
// step along the null vector of the Jacobian, then Newton's method on the pose and on the plane
// across the step. It also passes points where a joint reverses, unlike a sweep of that joint.
#pragma once

#include <array>
#include <numeric>

#include "general_6r.hpp"

namespace arm {

// How a trace ends; kernels/layout.py has the same values.
enum Ending { CLOSED = 1, STUCK = 2, FULL = 3 };

using Posture = std::array<double, 7>;
using Points = Span<const Posture>;
using PointsToFill = Span<Posture>;

constexpr int CORRECTIONS = 8;
constexpr double ANY = 1e100;            // error of a point to correct
constexpr double ON_CURVE = 1e-12;       // error of a point of the curve
constexpr int POINTS_PER_CALL = 30;      // so that time is looked at in between
constexpr double SHORTEST_TRACE = 1e-8;  // fraction of the longest step
constexpr double MIN_COSINE = 0.95;      // between null vectors of neighbours
constexpr double MARGIN = 0.9, GROWTH = 1.5;
constexpr double SAME_POINT = 1e-6;  // points nearer than this are the same [rad]

inline double dot(const Posture& p, const Posture& q) {
  return std::inner_product(p.begin(), p.end(), q.begin(), 0.0);
}

// The curve of postures of a chain at a goal.
struct Curve : Goal {
  Curve(const Chain& c, const Pose& T, double unit) : Goal(c, T, unit, 7) {}

  // Fills the point at distance h from q along the unit vector d; returns whether there is one.
  bool correct(const Posture& q, const Posture& d, double h, Posture& point) {
    for (int i = 0; i < 7; ++i) point[i] = q[i] + h * d[i];
    const Plane plane = {q.data(), d.data(), h};
    return polish<7>(*this, plane, ANY, ON_CURVE, CORRECTIONS, point.data()).second < ON_CURVE;
  }

  // Fills the unit vector of joint motion at q that leaves the tip at rest, on the side of
  // `ahead`, to which it is not perpendicular (Allgower and Georg, 3.2: the bordered Jacobian).
  void fill_tangent(const Posture& q, const Posture& ahead, Posture& t) {
    double A[7][8] = {};
    if (!place(q.data(), *this)) return t.fill(std::numeric_limits<double>::quiet_NaN());
    fill_scaled_jacobian<7>(*this, A);
    std::copy(ahead.begin(), ahead.end(), A[6]);
    A[6][7] = 1.0;
    solve_linear<7>(A, t.data());
    const double size = std::sqrt(dot(t, t));
    for (double& component : t) component /= size;
  }

  // Whether the point `end` is on the curve near q, in direction t. With h > 0 it must lie ahead,
  // no farther than h. Then fills it in the turns of q.
  bool closes(const Posture& q, const Posture& t, double h, const Posture& end, Posture& point) {
    double ahead = 0.0, gap = 0.0;
    for (int i = 0; i < 7; ++i) {
      const double way = wrapped(end[i] - q[i]);
      ahead += t[i] * way;
      gap = std::max(gap, std::abs(way));
    }
    if (h > 0.0 && (ahead <= 0.0 || ahead > h || gap > 2.0 * h)) return false;
    Posture near;
    if (!correct(q, t, ahead, near) || angular_distance(7, near.data(), end.data()) > SAME_POINT)
      return false;
    for (int i = 0; i < 7; ++i) point[i] = q[i] + wrapped(end[i] - q[i]);
    return true;
  }
};

// Continues a curve of which the first points are there until it closes or gets stuck; a call adds
// at most POINTS_PER_CALL. Neighbours differ by no more than `longest` [rad] in each joint; angles
// may exceed a turn. The first step is about in direction `ahead`. Returns the count and an
// Ending.
inline Two trace(const Chain& c, const Pose& T, double unit, double longest, const Posture& ahead,
                 PointsToFill out, int count) {
  require(longest > 0.0 && longest <= PI && count >= 1 && count <= out.size, "no curve");
  Curve curve(c, T, unit);
  Posture* points = out;
  Posture q = points[count - 1], t, next, next_t;
  curve.fill_tangent(q, ahead, t);
  double h = MARGIN * longest;
  const int end = std::min(out.size, count + POINTS_PER_CALL - 1);
  while (count < end) {
    bool is_good =
        curve.correct(q, t, h, next) && angular_distance(7, q.data(), next.data()) <= longest;
    if (is_good) {
      curve.fill_tangent(next, t, next_t);
      is_good = dot(t, next_t) > MIN_COSINE;
    }
    if (!is_good) {
      h *= 0.5;
      if (h < SHORTEST_TRACE * longest) return {count, STUCK};
      continue;
    }
    const bool is_closed = count > 2 && curve.closes(q, t, h, points[0], next);
    points[count++] = next;
    if (is_closed) return {count, CLOSED};
    q = next;
    t = next_t;
    h = std::min(MARGIN * longest, GROWTH * h);
  }
  return {count, FULL};
}

// Fills q with the curve's point at a step from a near one; returns whether there is one.
inline bool fill_point(const Chain& c, const Pose& T, double unit, const Posture& near,
                       const Posture& step, RowToFill q) {
  require(q.size == 7, "a posture of 7 joints");
  const double h = std::sqrt(dot(step, step));
  Posture d;
  for (int i = 0; i < 7; ++i) d[i] = step[i] / std::max(h, 1e-300);
  return Curve(c, T, unit).correct(near, d, h, *reinterpret_cast<Posture*>(q.values));
}

// Whether a traced curve passes through the point q of the same self-motion.
inline bool passes(const Chain& c, const Pose& T, double unit, double longest, Points traced,
                   const Posture& q) {
  Curve curve(c, T, unit);
  int nearest = 0;
  double gap = INFINITE;
  for (int j = 0; j < traced.size; ++j) {
    const double apart = angular_distance(7, traced[j].data(), q.data());
    if (apart < gap) nearest = j, gap = apart;
  }
  if (traced.size == 0 || !(gap <= longest)) return false;
  if (gap <= SAME_POINT) return true;
  const Posture& near = traced[nearest];
  Posture way, t, unused;
  for (int i = 0; i < 7; ++i) way[i] = wrapped(q[i] - near[i]);
  curve.fill_tangent(near, way, t);
  return curve.closes(near, t, -1.0, q, unused);
}

}  // namespace arm
