// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Polishing by Newton's method on the six equations of the pose, and recognition of duplicates.
//
// The error of a pose is its distance from the target over the length of the arm, and the angle
// between the two; a solution is a pose whose error is round-off.
#pragma once

#include <algorithm>

#include "../chain.hpp"

namespace arm {

constexpr int POLISHING_STEPS = 40, HALVINGS = 6;
constexpr double LONGEST_CORRECTION = 0.5;  // [rad]
constexpr double ROUND_OFF = 1e-15;
constexpr double ACCURATE = 1e-14;  // error below which steps are not shortened
constexpr double SOLVED = 1e-10;    // error of a solution
constexpr double NEGLIGIBLE_PIVOT = 1e-13;
constexpr double SAME_ANGLES = 1e-8;   // solutions nearer than this are the same [rad],
constexpr double CLOSE_ANGLES = 1e-2;  // and nearer than this if the point half-way is one, too

// A pose to reach, with lengths over the unit [m].
struct Goal {
  Motion pose;
  double unit;
};

// Fills e (6) with the error of the pose in W: position, rotation (R' x R summed over columns, /
// 2: the rotation vector, if it is small). Returns the size of the difference of the matrices,
// which is 0 at the target only.
inline double fill_pose_error(const Goal& goal, const Workspace& W, double* e) {
  const Vector off = 1.0 / goal.unit * (goal.pose.position - W.tip.position);
  const Rotation A = transposed(W.tip.rotation), B = transposed(goal.pose.rotation);
  const Vector turn = 0.5 * (cross(A.x, B.x) + cross(A.y, B.y) + cross(A.z, B.z));
  const Vector x = B.x - A.x, y = B.y - A.y, z = B.z - A.z;
  const double values[] = {off.x, off.y, off.z, turn.x, turn.y, turn.z};
  std::copy(values, values + 6, e);
  return std::sqrt(dot(off, off) + 0.5 * (dot(x, x) + dot(y, y) + dot(z, z)));
}

// Fills the first n columns of A with the Jacobian at the pose in W, lengths over the unit.
template <int n>
void fill_scaled_jacobian(double unit, Workspace& W, double (*A)[n + 1]) {
  fill_jacobian(W);
  for (int i = 0; i < n; ++i) {
    const Vector v = 1.0 / unit * W[i].linear, w = W[i].angular;
    const double column[] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int k = 0; k < 6; ++k) A[k][i] = column[k];
  }
}

// Moves the pivot of the k-th step of an elimination to row and column k; returns whether it is
// not negligible.
template <int n>
bool move_pivot(double (&A)[n][n + 1], int k, int* order) {
  int row = k, column = k;
  for (int i = k; i < n; ++i)
    for (int j = k; j < n; ++j)
      if (std::abs(A[i][j]) > std::abs(A[row][column])) row = i, column = j;
  const double scale = k > 0 ? std::abs(A[0][0]) : 0.0;
  if (std::abs(A[row][column]) <= NEGLIGIBLE_PIVOT * scale) return false;
  for (int j = 0; j <= n; ++j) std::swap(A[k][j], A[row][j]);
  for (int i = 0; i < n; ++i) std::swap(A[i][k], A[i][column]);
  std::swap(order[k], order[column]);
  return true;
}

// Solves A[:, :n] x = A[:, n] by elimination with complete pivoting; A is used up. Unknowns whose
// pivots are negligible are 0. Returns the factor that keeps the step short.
template <int n>
double solve_linear(double (&A)[n][n + 1], double* x) {
  int order[n], rank = 0;
  for (int k = 0; k < n; ++k) order[k] = k;
  for (; rank < n && move_pivot<n>(A, rank, order); ++rank)
    for (int i = rank + 1; i < n; ++i) {
      const double factor = A[i][rank] / A[rank][rank];
      for (int j = rank; j <= n; ++j) A[i][j] -= factor * A[rank][j];
    }
  std::fill(x, x + n, 0.0);
  double longest = LONGEST_CORRECTION;
  for (int k = rank - 1; k >= 0; --k) {
    double value = A[k][n];
    for (int j = k + 1; j < rank; ++j) value -= A[k][j] * x[order[j]];
    x[order[k]] = value / A[k][k];
    longest = std::max(longest, std::abs(x[order[k]]));
  }
  return LONGEST_CORRECTION / longest;
}

// Halves a step from q, of a posture with this error, until it reduces it; returns the new error,
// or a negative number if no step does. Fills q with the end of the step, and e with its error.
inline double shorten_step(const Goal& goal, const double* step, double scale, double error,
                           Workspace& W, double* q, double* e) {
  for (int halving = 0; halving < HALVINGS; ++halving, scale *= 0.5) {
    double trial[6];
    for (int i = 0; i < 6; ++i) trial[i] = q[i] + scale * step[i];
    if (!place(trial, W)) continue;
    const double trial_error = fill_pose_error(goal, W, e);
    if (trial_error < error) {
      std::copy(trial, trial + 6, q);
      return trial_error;
    }
    if (error < ACCURATE) break;
  }
  return -1.0;
}

struct Improvement {
  double before, after;  // errors
};

// Improves q (6) as far as rounding allows, unless its error exceeds the limit. Steps are
// shortened until they reduce the error; directions in which the arm cannot move are ignored.
inline Improvement polish(const Goal& goal, double limit, Workspace& W, double* q) {
  double e[6], A[6][7], step[6];
  if (!place(q, W)) return {INFINITE, INFINITE};
  const double first = fill_pose_error(goal, W, e);
  double error = first;
  for (int k = 0; k < POLISHING_STEPS && error >= ROUND_OFF && first <= limit; ++k) {
    fill_scaled_jacobian<6>(goal.unit, W, A);
    for (int i = 0; i < 6; ++i) A[i][6] = e[i];
    const double scale = solve_linear<6>(A, step);
    const double next = shorten_step(goal, step, scale, error, W, q, e);
    if (next < 0.0) break;
    error = next;
  }
  for (int i = 0; i < 6; ++i) q[i] = wrapped(q[i]);
  return {first, error};
}

// The largest difference of two sets of n angles, modulo whole turns.
inline double angular_distance(int n, const double* p, const double* q) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(wrapped(p[i] - q[i])));
  return largest;
}

// Whether two solutions (6) are the same: the posture half-way is about as accurate.
inline bool is_same(const Goal& goal, const double* p, const double* q, Workspace& W) {
  const double apart = angular_distance(6, p, q);
  if (apart < SAME_ANGLES || apart > CLOSE_ANGLES) return apart < SAME_ANGLES;
  double middle[6], e[6], worse = ROUND_OFF;
  for (int i = 0; i < 6; ++i) middle[i] = q[i] + 0.5 * wrapped(p[i] - q[i]);
  for (const double* x : {p, q}) {
    place(x, W);
    worse = std::max(worse, fill_pose_error(goal, W, e));
  }
  place(middle, W);
  return fill_pose_error(goal, W, e) < 2.0 * worse;
}

}  // namespace arm
