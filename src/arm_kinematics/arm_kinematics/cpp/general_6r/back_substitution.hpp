// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Back-substitution from eigenvectors to joint angles, without duplicates.
#pragma once

#include "elimination.hpp"
#include "refinement.hpp"

namespace arm {

constexpr int ROOTS_SHARED = 4;      // most solutions of one eigenvalue that are told apart
constexpr double MIXED = 1e-6;       // relative difference from 1 of a squared sine and cosine
constexpr double DEPENDENT = 1e-14;  // relative determinant up to which equations are dependent

// Eigenvalues (alpha_re + i alpha_im) / beta, as LAPACK's ggev gives them, and a row for each
// eigenvector; the imaginary part of a complex pair is its second row.
struct Eigensystem {
  double alpha_re[SIZE], alpha_im[SIZE], beta[SIZE];
};
using Eigenvectors = double[SIZE][SIZE];

// One order of the loop for one target, after its elimination.
struct Elimination {
  const Loop& loop;
  const Lines& lines;
  const NullSpace& Z;
  const Eigensystem& values;
  const Eigenvectors& vectors;
};

// The size of the imaginary part of q3 of the i-th eigenvalue [rad].
inline double imaginary_part(const Eigensystem& values, int i) {
  const double a = values.alpha_re[i], b = values.alpha_im[i], beta = values.beta[i];
  const double above = (beta - b) * (beta - b) + a * a, below = (beta + b) * (beta + b) + a * a;
  if (above <= 0.0 || below <= 0.0) return INFINITE;
  return 0.5 * std::abs(std::log(above / below));
}

// Fills v (12) with the products of an eigenvector, real at its largest entry.
inline void fill_real_products(const Elimination& order, int i, bool is_complex, double* v) {
  double imaginary[PRODUCTS];
  int largest = 0;
  for (int m = 0; m < PRODUCTS; ++m) {
    v[m] = imaginary[m] = 0.0;
    for (int k = 0; k < SIZE; ++k) {
      v[m] += order.vectors[i][k] * order.Z[k][m];
      if (is_complex) imaginary[m] += order.vectors[i + 1][k] * order.Z[k][m];
    }
    if (std::hypot(v[m], imaginary[m]) > std::hypot(v[largest], imaginary[largest])) largest = m;
  }
  const double x = v[largest], y = imaginary[largest];
  for (int m = 0; m < PRODUCTS; ++m) v[m] = x * v[m] + y * imaginary[m];
}

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

// Fills f (5) with the invariants of a line element under a turn about an axis.
inline void fill_invariants(const Line& axis, const Line& x, double* f) {
  const Vector w = axis.direction, r = x.point - axis.point;
  f[0] = dot(w, x.direction);
  f[1] = dot(w, r);
  f[2] = dot(r, r);
  f[3] = dot(w, cross(r, x.direction));
  f[4] = f[2] * f[0] - 2.0 * dot(r, x.direction) * f[1];
}

struct SecondAngle {
  double angle;
  bool is_forked;
};

// The turn of x about the second axis after which the first can bring it to y. The invariants of a
// turn about the first axis are linear in cosine and sine of the second: five equations, solved by
// least squares. If they are all dependent (parallel or intersecting axes), there are two
// solutions: it is_forked.
inline SecondAngle second_angle(const Line& first, const Line& second, const Line& x,
                                const Line& y, int branch) {
  double wanted[5], f[3][5];
  fill_invariants(first, y, wanted);
  for (int j = 0; j < 3; ++j)
    fill_invariants(first, turned(second, THIRD_SINES[j], THIRD_COSINES[j], x), f[j]);
  double kk = 0.0, ks = 0.0, ss = 0.0, kd = 0.0, sd = 0.0;
  for (int m = 0; m < 5; ++m) {
    const double k = (2.0 * f[0][m] - f[1][m] - f[2][m]) / 3.0;
    const double s = (f[1][m] - f[2][m]) / (2.0 * THIRD_SINES[1]);
    const double d = wanted[m] - (f[0][m] + f[1][m] + f[2][m]) / 3.0;
    kk += k * k, ks += k * s, ss += s * s, kd += k * d, sd += s * d;
  }
  if (kk * ss - ks * ks > DEPENDENT * (kk + ss) * (kk + ss))
    return {std::atan2(kk * sd - ks * kd, ss * kd - ks * sd), false};
  const double k = kk > ss ? kk : ks, s = kk > ss ? ks : ss, d = kk > ss ? kd : sd;
  const double middle = std::atan2(s, k);
  double half = 0.0;
  if (k != 0.0 || s != 0.0) half = std::acos(std::clamp(d / std::hypot(k, s), -1.0, 1.0));
  return {branch == 0 ? middle + half : middle - half, true};
}

// The turn about an axis that brings the line element x nearest to y.
inline double angle_between(const Line& axis, const Line& x, const Line& y) {
  const Vector w = axis.direction, p = x.point - axis.point, r = y.point - axis.point;
  const double s = dot(w, cross(p, r)) + dot(w, cross(x.direction, y.direction));
  const double k = dot(p, r) + dot(x.direction, y.direction);
  return std::atan2(s, k - dot(w, p) * dot(w, r) - dot(w, x.direction) * dot(w, y.direction));
}

// Fills q (6), in the order of the arm, with the angles of the i-th eigenvalue; a complex one is
// replaced by the real one nearest in angle, and of a pair, i is the first. Where several
// solutions share the eigenvalue, the branch, below ROOTS_SHARED, selects one. Returns whether
// branches differ.
inline bool fill_candidate(const Elimination& order, int i, int branch, double* q) {
  const Eigensystem& values = order.values;
  const double a = values.alpha_re[i], b = values.alpha_im[i], beta = values.beta[i];
  // exp(i q3) = (1 + i x) / (1 - i x) with x = (a + i b) / beta, up to a positive factor
  const double q3 = std::atan2(2.0 * a * beta, beta * beta - a * a - b * b);
  double v[PRODUCTS];
  fill_real_products(order, i, b != 0.0, v);
  const auto [q4, q5, is_mixed] = angles_of_products(v, branch / 2);
  const Lines& lines = order.lines;
  Line x = lines.last, u = lines.element;
  const auto turn_both = [&](const Line& axis, double angle) {
    const double s = std::sin(angle), k = std::cos(angle);
    x = turned(axis, s, k, x);
    u = turned(axis, s, k, u);
  };
  turn_both(lines.axes[4], q5);
  turn_both(lines.axes[3], q4);
  turn_both(lines.axes[2], q3);
  const auto [q2, is_forked] =
      second_angle(lines.axes[0], lines.axes[1], x, lines.target, branch % 2);
  turn_both(lines.axes[1], q2);
  const double q1 = angle_between(lines.axes[0], x, lines.target);
  turn_both(lines.axes[0], q1);
  const double q6 = angle_between(lines.target, u, lines.twist);
  const double angles[] = {q1, q2, q3, q4, q5, q6};
  for (int j = 0; j < 6; ++j) q[static_cast<int>(order.loop.joints[j].joint)] = angles[j];
  return is_forked || is_mixed;
}

constexpr int CAPACITY = 64;          // solutions of a target, as in kernels/layout.py
constexpr double NEARLY_REAL = 0.01;  // imaginary part of q3 that may be due to rounding [rad]
// Largest error of a valid candidate of a real, and of a nearly real eigenvalue.
constexpr double VALID_REAL = 1e-4, VALID_NEARLY_REAL = 1e-2;
constexpr double COMPLEX = 0.2;  // imaginary part above which no real solution is near [rad]
constexpr double WORTH_POLISHING = 0.03;  // error of a complex eigenvalue's candidate

// Solutions, and of the last order: how many it found, whether they are consistent, and the
// largest error of a real eigenvalue's candidate. Its fields are those of POSTURES in
// kernels/layout.py.
struct Postures {
  double count, of_order, is_sound, largest_error;
  double q[CAPACITY][6];
};

// Appends q unless it is there, or they are full.
inline void add_posture(const Chain& c, const Goal& goal, const double* q, Workspace& W,
                        Postures& out) {
  const int count = static_cast<int>(out.count);
  for (int k = 0; k < count; ++k)
    if (is_same(c, goal, out.q[k], q, W)) return;
  if (count == CAPACITY) return;
  std::copy(q, q + 6, out.q[count]);
  out.count += 1.0;
}

struct Census {
  int real = 0, nearly_real = 0;  // eigenvalues
  double largest_error = 0.0;     // of a candidate of a real one
  bool is_sound = true;
};

// Adds the solutions of one eigenvalue.
inline void add_candidates(const Chain& c, const Goal& goal, const Elimination& order, int i,
                           Workspace& W, Census& census, Postures& out) {
  const bool is_real = order.values.alpha_im[i] == 0.0;
  const double off = is_real ? 0.0 : imaginary_part(order.values, i);
  for (int branch = 0; off < COMPLEX && branch < ROOTS_SHARED; ++branch) {
    double q[6];
    const bool are_several = fill_candidate(order, i, branch, q);
    const auto [before, after] = polish(c, goal, is_real ? INFINITE : WORTH_POLISHING, W, q);
    if (branch == 0 && is_real) {
      census.real += 1;
      census.largest_error = std::max(census.largest_error, before);
    } else if (branch == 0 && off < NEARLY_REAL) {
      census.nearly_real += 2;
      census.is_sound = census.is_sound && before < VALID_NEARLY_REAL;
    }
    if (after < SOLVED) add_posture(c, goal, q, W, out);
    if (!are_several) return;
  }
}

// Adds the solutions that belong to the eigenvalues to those in out.
//
// The order is sound if each real eigenvalue's candidate nearly is a solution, these are all
// different, and further ones are even in number and come from complex pairs that rounding may
// have made of real ones. That is so for a general arm; not if the arm is special (the pencil is
// singular, or several solutions share the angle of the third joint), or its pose is singular.
inline void collect(const Chain& c, const Pose& T, const Loop& loop, const Lines& lines,
                    const NullSpace& Z, const Eigensystem& values, const Eigenvectors& vectors,
                    Postures& out) {
  const Elimination order{loop, lines, Z, values, vectors};
  const Goal goal = {T.motion(), loop.unit};
  Workspace W(6);
  Postures of_order;
  of_order.count = 0.0;
  Census census;
  for (int i = 0; i < SIZE; i += order.values.alpha_im[i] == 0.0 ? 1 : 2)
    add_candidates(c, goal, order, i, W, census, of_order);
  const int count = static_cast<int>(of_order.count);
  for (int k = 0; k < count; ++k) add_posture(c, goal, of_order.q[k], W, out);
  const bool is_complete = census.real <= count && count <= census.real + census.nearly_real;
  const bool is_sound = census.is_sound && census.largest_error < VALID_REAL && is_complete;
  out.of_order = count;
  out.is_sound = is_sound && count % 2 == 0 ? 1.0 : 0.0;
  out.largest_error = census.largest_error;
}

}  // namespace arm
