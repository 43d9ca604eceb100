// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Solutions of a general 6R arm from the eigenvectors of an elimination (ik/general_6r.py): joint
// angles by back-substitution, polished, without duplicates.
//
// They are polished by Newton's method on the six equations of the pose, and for seven joints a
// plane (self_motion.hpp). The error of a pose is its distance from the target over the length of
// the arm, and the angle between the two; a solution is a pose whose error is round-off.
#pragma once

#include <algorithm>

#include "chain.hpp"
#include "closed_form/plan.hpp"

namespace arm {

constexpr int POLISHING_STEPS = 40, HALVINGS = 6;
constexpr double LONGEST_CORRECTION = 0.5;  // [rad]
constexpr double ROUND_OFF = 1e-15;
constexpr double ACCURATE = 1e-14;  // error below which steps are not shortened
constexpr double SOLVED = 1e-10;    // error of a solution
constexpr double NEGLIGIBLE_PIVOT = 1e-13;
constexpr double SAME_ANGLES = 1e-8;   // solutions nearer than this are the same [rad],
constexpr double CLOSE_ANGLES = 1e-2;  // and nearer than this if the posture half-way is one, too,
constexpr double HALF_WAY = 1e-12;     // with this error: a double solution is found as several

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

// Whether two solutions (6) are the same.
inline bool is_same(Goal& goal, const double* p, const double* q) {
  const double apart = angular_distance(6, p, q);
  if (apart < SAME_ANGLES || apart > CLOSE_ANGLES) return apart < SAME_ANGLES;
  double middle[6], e[6], worse = 0.0;
  for (int i = 0; i < 6; ++i) middle[i] = q[i] + 0.5 * wrapped(p[i] - q[i]);
  for (const double* x : {p, q}) worse = std::max(worse, fill_errors<6>(goal, {}, x, e));
  return fill_errors<6>(goal, {}, middle, e) < std::max(2.0 * worse, HALF_WAY);
}

constexpr double MIXED = 1e-6;  // relative difference from 1 of a squared sine and cosine
constexpr int COORDINATES = 14, PRODUCTS = 12;
constexpr int CAPACITY = 64;  // solutions of an order

// Coefficients of coordinates: row 3 i + j those of the i-th of (cos a, sin a, 1) times the j-th
// of (cos b, sin b, 1).
using Bilinear = double[9][COORDINATES];

// The equations of a loop: the coordinates behind, of joints 4 and 5 and turned by joint 3, are
// those before, of the negative angles of joints 2 and 1. The order is one of twelve.
struct Loop {
  int order;
  const Bilinear &before, &behind;

  // The index in the arm of the k-th joint.
  int joint(int k) const {
    const int place = (order % 6 + k) % 6;
    return order < 6 ? place : 5 - place;
  }
};

struct TwoAngles {
  double a, b;
  bool is_mixed;
};

// The angles a, b of v = (cos 3a/2, sin 3a/2, cos a/2, sin a/2) x (cos b, sin b, 1). If solutions
// with b and b + pi share the eigenvalue (a spherical wrist), v is a mixture of both; then it
// is_mixed, and each branch takes one.
inline TwoAngles angles_of_products(const double* v, int branch) {
  int largest = 0;
  for (int m = 0; m < PRODUCTS; ++m)
    if (std::abs(v[m]) > std::abs(v[largest])) largest = m;
  const int row = 3 * (largest / 3), column = largest % 3;
  const double k = v[row], s = v[row + 1], one = v[row + 2];
  const double sign = (one >= 0.0) == (branch == 0) ? 1.0 : -1.0;
  const double c3 = v[column], s3 = v[3 + column], c1 = v[6 + column], s1 = v[9 + column];
  return {std::atan2(s3 * c1 - c3 * s1, c3 * c1 + s3 * s1), std::atan2(sign * s, sign * k),
          std::abs(k * k + s * s - one * one) > MIXED * (k * k + s * s + one * one)};
}

// Fills in the first two of the angles q of a loop, in its order. With the others known its
// equations are linear in the products of the first two: least squares.
inline void fill_first_angles(const Loop& loop, double* q) {
  const SineCosine turn = sine_and_cosine(q[2]), a = sine_and_cosine(q[3]),
                   b = sine_and_cosine(q[4]);
  const double of_a[] = {a.cosine, a.sine, 1.0}, of_b[] = {b.cosine, b.sine, 1.0};
  double right[COORDINATES], A[8][9], y[8];
  for (int k = 0; k < COORDINATES; ++k) {
    right[k] = 0.0;
    for (int m = 0; m < 9; ++m) right[k] += of_a[m / 3] * of_b[m % 3] * loop.behind[m][k];
  }
  for (int k = 0; k < 4; ++k) {
    const double first = right[k], second = right[4 + k];
    right[k] = turn.cosine * first - turn.sine * second;
    right[4 + k] = turn.sine * first + turn.cosine * second;
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 9; ++j) {
      A[i][j] = 0.0;
      for (int k = 0; k < COORDINATES; ++k)
        A[i][j] += loop.before[i][k] * (j < 8 ? loop.before[j][k] : right[k] - loop.before[8][k]);
    }
  solve_linear<8>(A, y);
  q[0] = std::atan2(-y[7], y[6]);
  q[1] = std::atan2(-y[5], y[2]);
}

// Fills q (6), in the order of the arm, with a candidate of an eigenvalue: the angle of the third
// joint and the products v. The last joint turns the tip nearest to the goal. Where two solutions
// share the eigenvalue, the branch selects one; returns whether branches differ.
inline bool fill_candidate(Goal& goal, const Loop& loop, double q3, const double* v, int branch,
                           double* q) {
  const auto [q4, q5, is_mixed] = angles_of_products(v, branch);
  double angles[6] = {0.0, 0.0, q3, q4, q5, 0.0};
  fill_first_angles(loop, angles);
  for (int k = 0; k < 6; ++k) q[loop.joint(k)] = angles[k];
  place(q, goal);
  const int last = loop.joint(5);
  q[last] = angle_about(goal[last].axis, goal.pose.rotation * transposed(goal.tip.rotation)).q;
  return is_mixed;
}

// Appends q (6) to the first solutions unless it is there, or they are full.
inline int add_posture(Goal& goal, const double* q, RowsToFill solutions, int count) {
  for (int k = 0; k < count; ++k)
    if (is_same(goal, solutions[k], q)) return count;
  if (count == solutions.count) return count;
  std::copy(q, q + 6, solutions[count].values);
  return count + 1;
}

// Adds the solutions that belong to eigenvalues to the first ones: q3 (k), products v (k, 12).
// None is polished whose error exceeds its limit; the limit then is that error, of branch 0, and
// stays if it is negative: no candidate. Returns how many solutions are here, and all.
inline Two collect(const Chain& c, const Pose& T, double unit, int order, const Bilinear& before,
                   const Bilinear& behind, RowToFill q3, RowsToFill v, RowToFill limits,
                   RowsToFill solutions, int count) {
  require(v.size == PRODUCTS && v.count == q3.size && limits.size == q3.size && order < 12 &&
              solutions.size == 6 && count <= solutions.count,
          "another count");
  Goal goal(c, T, unit, 6);
  const Loop loop = {order, before, behind};
  double found[CAPACITY][6], q[6];
  int here = 0;
  for (int k = 0; k < q3.size; ++k) {
    const double limit = limits[k];
    bool is_mixed = true;
    for (int branch = 0; limit >= 0.0 && is_mixed && branch < 2; ++branch) {
      is_mixed = fill_candidate(goal, loop, q3[k], v[k], branch, q);
      const auto [error, after] = polish<6>(goal, {}, limit, ROUND_OFF, POLISHING_STEPS, q);
      if (branch == 0) limits[k] = error;
      if (!(after < SOLVED)) continue;
      for (double& angle : q) angle = wrapped(angle);
      here = add_posture(goal, q, {found[0], CAPACITY, 6}, here);
    }
  }
  for (int k = 0; k < here; ++k) count = add_posture(goal, found[k], solutions, count);
  return {here, count};
}

}  // namespace arm