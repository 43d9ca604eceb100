// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Back-substitution: from the eigenvectors of an elimination (ik/general_6r/elimination.py) to
// joint angles, without duplicates.
#pragma once

#include "../closed_form/plan.hpp"
#include "refinement.hpp"

namespace arm {

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
