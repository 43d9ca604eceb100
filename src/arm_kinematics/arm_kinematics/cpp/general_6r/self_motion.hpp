// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Tracing of a self-motion: the curve in the joint space of a 7R arm at one pose.
//
// Predictor and corrector (Allgower and Georg, "Numerical Continuation Methods", 1990, ch. 2): a
// step along the null vector of the Jacobian, then Newton's method on the pose and on the plane
// across the step. It also passes points where a joint reverses, unlike a sweep of that joint.
#pragma once

#include "refinement.hpp"

namespace arm {

// How a trace ends; kernels/layout.py has the same values.
enum Ending { CLOSED = 1, STUCK = 2, FULL = 3 };

using Posture = double[7];

using Points = Span<const Posture>;
using PointsToFill = Span<Posture>;

struct Trace {
  int count;  // of points
  Ending ending;
};

constexpr int CORRECTIONS = 8;
constexpr double ON_CURVE = 1e-12;       // error of a point of the curve
constexpr int POINTS_PER_CALL = 30;      // so that time is looked at in between
constexpr double SHORTEST_TRACE = 1e-8;  // fraction of the longest step
constexpr double MIN_COSINE = 0.95;      // between null vectors of neighbours
constexpr double MARGIN = 0.9, GROWTH = 1.5;
constexpr double SAME_POINT = 1e-6;  // points nearer than this are the same [rad]

inline double dot(const Posture& p, const Posture& q) {
  double sum = 0.0;
  for (int i = 0; i < 7; ++i) sum += p[i] * q[i];
  return sum;
}

inline double farthest(const Posture& p, const Posture& q) {
  double largest = 0.0;
  for (int i = 0; i < 7; ++i) largest = std::max(largest, std::abs(p[i] - q[i]));
  return largest;
}

inline void copy(const Posture& from, Posture& to) { std::copy(from, from + 7, to); }

// The curve of postures of a chain at a goal.
struct Curve {
  Goal goal;
  Workspace& W;

  // Fills the point at distance h from q along the unit vector d; returns whether there is one.
  bool correct(const Posture& q, const Posture& d, double h, Posture& point) const {
    double e[6], A[7][8], step[7];
    for (int i = 0; i < 7; ++i) point[i] = q[i] + h * d[i];
    for (int k = 0; k < CORRECTIONS; ++k) {
      if (!place(point, W)) return false;
      const double error = fill_pose_error(goal, W, e);
      double ahead = h;
      for (int i = 0; i < 7; ++i) ahead -= d[i] * (point[i] - q[i]);
      if (error < ON_CURVE && std::abs(ahead) < ON_CURVE) return true;
      fill_scaled_jacobian<7>(goal.unit, W, A);
      for (int i = 0; i < 6; ++i) A[i][7] = e[i];
      copy(d, reinterpret_cast<Posture&>(A[6]));
      A[6][7] = ahead;
      const double scale = solve_linear<7>(A, step);
      for (int i = 0; i < 7; ++i) point[i] += scale * step[i];
    }
    return false;
  }

  // Fills the unit vector of joint motion at q that leaves the tip at rest, on the side of
  // `ahead`, to which it is not perpendicular (Allgower and Georg, 3.2: the bordered Jacobian).
  void fill_tangent(const Posture& q, const Posture& ahead, Posture& t) const {
    double A[7][8] = {};
    if (!place(q, W)) return std::fill(t, t + 7, std::numeric_limits<double>::quiet_NaN());
    fill_scaled_jacobian<7>(goal.unit, W, A);
    copy(ahead, reinterpret_cast<Posture&>(A[6]));
    A[6][7] = 1.0;
    solve_linear<7>(A, t);
    const double size = std::sqrt(dot(t, t));
    for (double& component : t) component /= size;
  }

  // Whether the point `end` is on the curve near q, in direction t. With h > 0 it must lie ahead,
  // no farther than h. Then fills it in the turns of q.
  bool closes(const Posture& q, const Posture& t, double h, const Posture& end,
              Posture& point) const {
    double ahead = 0.0, gap = 0.0;
    for (int i = 0; i < 7; ++i) {
      const double way = wrapped(end[i] - q[i]);
      ahead += t[i] * way;
      gap = std::max(gap, std::abs(way));
    }
    if (h > 0.0 && (ahead <= 0.0 || ahead > h || gap > 2.0 * h)) return false;
    Posture near;
    if (!correct(q, t, ahead, near) || angular_distance(7, near, end) > SAME_POINT) return false;
    for (int i = 0; i < 7; ++i) point[i] = q[i] + wrapped(end[i] - q[i]);
    return true;
  }
};

// Continues a curve of which the first points are there until it closes or gets stuck; a call adds
// at most POINTS_PER_CALL. Neighbours differ by no more than `longest` [rad] in each joint; angles
// may exceed a turn. The first step is about in direction `ahead`.
inline Trace trace(const Chain& c, const Pose& T, double unit, double longest,
                   const Posture& ahead, PointsToFill out, int count) {
  require(
      c.n == 7 && unit > 0.0 && longest > 0.0 && longest <= PI && count >= 1 && count <= out.size,
      "no curve");
  Workspace W(c);
  const Curve curve{{T.motion(), unit}, W};
  Posture* points = out;
  Posture q, t, next, next_t;
  copy(points[count - 1], q);
  curve.fill_tangent(q, ahead, t);
  double h = MARGIN * longest;
  const int end = std::min(out.size, count + POINTS_PER_CALL - 1);
  while (count < end) {
    bool is_good = curve.correct(q, t, h, next) && farthest(q, next) <= longest;
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
    copy(next, points[count++]);
    if (is_closed) return {count, CLOSED};
    copy(next, q);
    copy(next_t, t);
    h = std::min(MARGIN * longest, GROWTH * h);
  }
  return {count, FULL};
}

// Fills q with the curve's point at a step from a near one; returns whether there is one.
inline bool fill_point(const Chain& c, const Pose& T, double unit, const Posture& near,
                       const Posture& step, Posture& q) {
  require(c.n == 7, "an arm of seven joints");
  Workspace W(c);
  const double h = std::sqrt(dot(step, step));
  Posture d;
  for (int i = 0; i < 7; ++i) d[i] = step[i] / std::max(h, 1e-300);
  return Curve{{T.motion(), unit}, W}.correct(near, d, h, q);
}

// Whether a traced curve passes through the point q of the same self-motion.
inline bool passes(const Chain& c, const Pose& T, double unit, double longest, Points traced,
                   const Posture& q) {
  require(c.n == 7, "an arm of seven joints");
  Workspace W(c);
  const Curve curve{{T.motion(), unit}, W};
  int nearest = 0;
  double gap = INFINITE;
  for (int j = 0; j < traced.size; ++j) {
    const double apart = angular_distance(7, traced[j], q);
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
