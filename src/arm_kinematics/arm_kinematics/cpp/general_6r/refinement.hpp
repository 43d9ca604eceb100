// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Newton's method on the six equations of the pose, and for seven joints a plane, and recognition
// of duplicates.
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

// A pose to reach by an arm, with lengths over the unit [m].
struct Goal : Workspace {
  Motion pose;
  double unit;

  Goal(const Chain& c, const Pose& T, double unit, int joints)
      : Workspace(c), pose(T.motion()), unit(unit) {
    require(n == joints && unit > 0.0, "an arm of other joints");
  }
};

// Fills e (6) with the error of the pose of the tip: position, rotation (R' x R summed over
// columns, / 2: the rotation vector, if it is small). Returns the size of the difference of the
// matrices, which is 0 at the target only.
inline double fill_pose_error(const Goal& goal, double* e) {
  const Vector off = 1.0 / goal.unit * (goal.pose.position - goal.tip.position);
  const Rotation A = transposed(goal.tip.rotation), B = transposed(goal.pose.rotation);
  const Vector turn = 0.5 * (cross(A.x, B.x) + cross(A.y, B.y) + cross(A.z, B.z));
  const Vector x = B.x - A.x, y = B.y - A.y, z = B.z - A.z;
  const double values[] = {off.x, off.y, off.z, turn.x, turn.y, turn.z};
  std::copy(values, values + 6, e);
  return std::sqrt(dot(off, off) + 0.5 * (dot(x, x) + dot(y, y) + dot(z, z)));
}

// Fills the first n columns of A with the Jacobian at the posture, lengths over the unit.
template <int n>
void fill_scaled_jacobian(Goal& goal, double (*A)[n + 1]) {
  fill_jacobian(goal);
  for (int i = 0; i < n; ++i) {
    const Vector v = 1.0 / goal.unit * goal[i].linear, w = goal[i].angular;
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

// The seventh equation of seven joints: normal . (q - start) = distance.
struct Plane {
  const double *start, *normal;
  double distance;
};

// Moves to q (n), and fills e (n) with the errors there; returns the largest one.
template <int n>
double fill_errors(Goal& goal, const Plane& plane, const double* q, double* e) {
  if (!place(q, goal)) return INFINITE;
  const double error = fill_pose_error(goal, e);
  if constexpr (n == 6) return error;
  e[6] = plane.distance;
  for (int i = 0; i < n; ++i) e[6] -= plane.normal[i] * (q[i] - plane.start[i]);
  return std::max(error, std::abs(e[6]));
}

// Halves a step from q, of a posture with this error, until it reduces it; returns the new error,
// or a negative number if no step does. Fills q with the end of the step, and e with its errors.
template <int n>
double shorten_step(Goal& goal, const Plane& plane, const double* step, double scale, double error,
                    double* q, double* e) {
  for (int halving = 0; halving < HALVINGS; ++halving, scale *= 0.5) {
    double trial[n];
    for (int i = 0; i < n; ++i) trial[i] = q[i] + scale * step[i];
    const double trial_error = fill_errors<n>(goal, plane, trial, e);
    if (trial_error < error) {
      std::copy(trial, trial + n, q);
      return trial_error;
    }
    if (error < ACCURATE) break;
  }
  return -1.0;
}

// Improves q (n) until its error is below `enough`, or as far as steps and rounding allow, unless
// it exceeds the limit. Steps are shortened until they reduce the error; directions in which the
// arm cannot move are ignored. Returns the errors before and after.
template <int n>
std::pair<double, double> polish(Goal& goal, const Plane& plane, double limit, double enough,
                                 int steps, double* q) {
  double e[n], A[n][n + 1], step[n];
  const double first = fill_errors<n>(goal, plane, q, e);
  double error = first;
  for (int k = 0; k < steps && error >= enough && first <= limit; ++k) {
    fill_scaled_jacobian<n>(goal, A);
    if constexpr (n == 7) std::copy(plane.normal, plane.normal + n, A[6]);
    for (int i = 0; i < n; ++i) A[i][n] = e[i];
    const double scale = solve_linear<n>(A, step);
    const double next = shorten_step<n>(goal, plane, step, scale, error, q, e);
    if (next < 0.0) break;
    error = next;
  }
  return {first, error};
}

// The largest difference of two sets of n angles, modulo whole turns.
inline double angular_distance(int n, const double* p, const double* q) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(wrapped(p[i] - q[i])));
  return largest;
}

// Whether two solutions (6) are the same: the posture half-way is about as accurate.
inline bool is_same(Goal& goal, const double* p, const double* q) {
  const double apart = angular_distance(6, p, q);
  if (apart < SAME_ANGLES || apart > CLOSE_ANGLES) return apart < SAME_ANGLES;
  double middle[6], e[6], worse = ROUND_OFF;
  for (int i = 0; i < 6; ++i) middle[i] = q[i] + 0.5 * wrapped(p[i] - q[i]);
  for (const double* x : {p, q}) worse = std::max(worse, fill_errors<6>(goal, {}, x, e));
  return fill_errors<6>(goal, {}, middle, e) < 2.0 * worse;
}

}  // namespace arm
