// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Real roots of equations in one joint, and of polynomials of low degree.
//
// A joint enters linearly through two functions phi(q): (cos q, sin q) if it turns, (q, q^2) if it
// slides. A root just lost by rounding (the edge of reach) is returned as the nearest q, once.
//
// Between two neighbouring roots of its derivative a polynomial is monotone, so each of its real
// roots is bracketed and found to the last digit, from the derivatives of low degree upwards.
// Unlike Ferrari's formulae this loses no accuracy where roots are close.
#pragma once

#include <algorithm>

#include "../vectors.hpp"

namespace arm {

constexpr double LOST = 1e-3;  // an equation off by more than this part of its size has no root
constexpr double VANISHED = 1e-11;  // coefficients below this fraction of their size are zero

struct Phi {
  double first, second;
};

[[gnu::always_inline]] inline Phi phi(bool slides, double q) {
  if (slides) return {q, q * q};
  const auto [s, k] = sine_and_cosine(q);
  return {k, s};
}

// The coordinate of a joint, with phi(q): computed together they cost one function instead of two.
struct Coordinate {
  double q;
  Phi phi;
};

[[gnu::always_inline]] inline Coordinate coordinate(bool slides, double q) {
  return {q, phi(slides, q)};
}

// The angle of a direction (x, y).
[[gnu::always_inline]] inline Coordinate angle_of(double y, double x) {
  const double r = std::sqrt(x * x + y * y);
  if (r < 1e-150) return coordinate(false, std::atan2(y, x));
  return {arctangent(y, x, r), {x / r, y / r}};
}

// An angle, or its negative (sense -1).
[[gnu::always_inline]] inline Coordinate operator*(double sense, Coordinate angle) {
  return {sense * angle.q, {angle.phi.first, sense * angle.phi.second}};
}

[[gnu::always_inline]] inline Coordinate half_a_turn_from(Coordinate angle) {
  return {angle.q + PI, {-angle.phi.first, -angle.phi.second}};
}

// The sum of two angles.
[[gnu::always_inline]] inline Coordinate operator+(Coordinate a, Coordinate b) {
  const auto [k, s] = a.phi;
  const auto [m, t] = b.phi;
  return {a.q + b.q, {k * m - s * t, s * m + k * t}};
}

struct Roots {
  int count;
  Coordinate at[2];
  bool is_free = false;  // every q is a root; then count is 1, and `at` has no meaning
};

inline Roots all_or_none(double c, double size) {
  const bool all = std::abs(c) <= LOST * size;
  return {all ? 1 : 0, {}, all};
}

// Solves a cos q + b sin q = c (subproblem 4 of Murray, Li and Sastry; also 3).
inline Roots roots_of_turn(double a, double b, double c, double size) {
  const double r = std::sqrt(a * a + b * b);
  if (r <= VANISHED * size) return all_or_none(c, size);
  const Coordinate middle = angle_of(b, a);
  const double square = (r - c) * (r + c);
  if (square <= 0.0) {
    if (std::abs(c) - r > LOST * size) return {0, {}};
    return {1, {c > 0.0 ? middle : half_a_turn_from(middle)}};
  }
  const Coordinate half = angle_of(std::sqrt(square), c);
  return {2, {middle + half, middle + -1.0 * half}};
}

// Solves a q + b q^2 = c without cancellation.
inline Roots roots_of_slide(double a, double b, double c, double size) {
  if (std::abs(b) <= VANISHED) {
    if (std::abs(a) <= VANISHED) return all_or_none(c, size);
    return {1, {coordinate(true, c / a)}};
  }
  const double middle = -0.5 * a / b, square = middle * middle + c / b;
  if (square <= 0.0) return {-square <= LOST * size ? 1 : 0, {coordinate(true, middle)}};
  const double far = middle + std::copysign(std::sqrt(square), middle);
  return {2, {coordinate(true, far), coordinate(true, far != 0.0 ? -c / b / far : 0.0)}};
}

// Solves (a, b) . phi(q) = c; `size` is the scale of the coefficients.
inline Roots roots(bool slides, double a, double b, double c, double size) {
  return slides ? roots_of_slide(a, b, c, size) : roots_of_turn(a, b, c, size);
}

constexpr int MAX_DEGREE = 4;
// A minimum this near to zero, as a fraction of the sum of the terms' sizes, counts as a root.
constexpr double TOUCHES = 1e-7;
constexpr int NEWTON_STEPS = 80;

struct Polynomial {
  int degree;
  double a[MAX_DEGREE + 1];  // coefficients, constant first

  Polynomial derivative() const {
    Polynomial d{degree - 1, {}};
    for (int i = 0; i < degree; ++i) d.a[i] = (i + 1) * a[i + 1];
    return d;
  }
  double operator()(double x) const {
    double value = 0.0;
    for (int i = degree; i >= 0; --i) value = value * x + a[i];
    return value;
  }
  // The sum of the sizes of its terms.
  double size(double x) const {
    double value = 0.0;
    for (int i = degree; i >= 0; --i) value = value * std::abs(x) + std::abs(a[i]);
    return value;
  }
  // A number that no root exceeds (Cauchy), 0 if there are none; negligible leading coefficients
  // are ignored: they only add roots near infinity.
  double bound() const {
    double largest = 0.0, bound = 0.0;
    for (int i = 0; i <= degree; ++i) largest = std::max(largest, std::abs(a[i]));
    for (int i = 1; i <= degree; ++i)
      if (std::abs(a[i]) > 1e-14 * largest) bound = 1.0 + largest / std::abs(a[i]);
    return bound;
  }
  // The root between two points of opposite sign, by Newton steps kept in the bracket; `value` is
  // that of the lower one.
  double root_between(double lower, double upper, double value) const {
    double x = 0.5 * (lower + upper);
    if (value == 0.0) return lower;
    for (int step = 0; step < NEWTON_STEPS; ++step) {
      double y = 0.0, slope = 0.0;
      for (int i = degree; i >= 0; --i) {
        slope = slope * x + y;
        y = y * x + a[i];
      }
      if (y == 0.0) return x;
      ((y > 0.0) == (value > 0.0) ? lower : upper) = x;
      const double newton = slope != 0.0 ? x - y / slope : INFINITE;
      const double next = lower < newton && newton < upper ? newton : 0.5 * (lower + upper);
      if (std::abs(next - x) <= 4e-16 * std::abs(next)) return next;
      x = next;
    }
    return x;
  }
};

struct RealRoots {
  int count = 0;
  double x[2 * MAX_DEGREE];
};

// The roots, ascending.
inline RealRoots real_roots(const Polynomial& p) {
  const RealRoots turns = p.degree > 1 ? real_roots(p.derivative()) : RealRoots{};
  RealRoots roots;
  const double end = p.bound();
  if (end == 0.0) return roots;  // a constant: no roots, or all
  double lower = -end, value = p(lower);
  for (int i = 0; i <= turns.count; ++i) {
    const double upper = i < turns.count ? std::min(std::max(turns.x[i], -end), end) : end;
    const double next = p(upper);
    const bool is_whole = p.degree == MAX_DEGREE && i < turns.count;
    if (value * next < 0.0 || value == 0.0)
      roots.x[roots.count++] = p.root_between(lower, upper, value);
    else if (is_whole && std::abs(next) <= TOUCHES * p.size(upper))
      roots.x[roots.count++] = upper;  // the two roots beside it are one, or lost by rounding
    lower = upper;
    value = next;
  }
  return roots;
}

}  // namespace arm
