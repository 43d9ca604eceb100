// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Vectors, rotations and rigid motions; small enough to live in registers.
#pragma once

#include <cmath>
#include <limits>

namespace arm {

constexpr double PI = 3.14159265358979323846;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

struct Vector {
  double x, y, z;
};

// A rotation matrix.
struct Rotation {
  Vector x, y, z;  // its rows
};

// A rigid motion: p -> rotation p + position.
struct Motion {
  Rotation rotation;
  Vector position;
};

[[gnu::always_inline]] inline Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
[[gnu::always_inline]] inline Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[gnu::always_inline]] inline Vector operator*(double k, Vector a) {
  return {k * a.x, k * a.y, k * a.z};
}

[[gnu::always_inline]] inline double dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

[[gnu::always_inline]] inline Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

[[gnu::always_inline]] inline double length(Vector a) { return std::sqrt(dot(a, a)); }

// Whether a is no longer than a length.
[[gnu::always_inline]] inline bool is_short(Vector a, double length) {
  return dot(a, a) <= length * length;
}

// The product of components.
[[gnu::always_inline]] inline Vector scaled(Vector s, Vector a) {
  return {s.x * a.x, s.y * a.y, s.z * a.z};
}

[[gnu::always_inline]] inline double largest_component(Vector a) {
  return std::fmax(std::abs(a.x), std::fmax(std::abs(a.y), std::abs(a.z)));
}

[[gnu::always_inline]] inline Vector operator*(const Rotation& R, Vector a) {
  return {dot(R.x, a), dot(R.y, a), dot(R.z, a)};
}

// The transpose of R times a.
[[gnu::always_inline]] inline Vector rotated_back(const Rotation& R, Vector a) {
  return a.x * R.x + a.y * R.y + a.z * R.z;
}

[[gnu::always_inline]] inline Rotation transposed(const Rotation& R) {
  return {{R.x.x, R.y.x, R.z.x}, {R.x.y, R.y.y, R.z.y}, {R.x.z, R.y.z, R.z.z}};
}

[[gnu::always_inline]] inline Rotation operator*(const Rotation& A, const Rotation& B) {
  return {rotated_back(B, A.x), rotated_back(B, A.y), rotated_back(B, A.z)};
}

[[gnu::always_inline]] inline Vector operator*(const Motion& T, Vector p) {
  return T.rotation * p + T.position;
}

[[gnu::always_inline]] inline Motion inverse(const Motion& T) {
  return {transposed(T.rotation), -1.0 * rotated_back(T.rotation, T.position)};
}

// A homogeneous matrix, as Python passes a motion.
struct Pose {
  struct {
    Vector rotation;
    double position;
  } x, y, z;  // its rows
  double last[4] = {0.0, 0.0, 0.0, 1.0};

  Motion motion() const {
    return {{x.rotation, y.rotation, z.rotation}, {x.position, y.position, z.position}};
  }
  static Pose of(const Motion& T) {
    const auto& [R, p] = T;
    return {{R.x, p.x}, {R.y, p.y}, {R.z, p.z}};
  }
};
static_assert(sizeof(Pose) == 16 * sizeof(double));

struct SineCosine {
  double sine, cosine;
};

// The nearest whole number, by rounding to the last binary digit.
[[gnu::always_inline]] inline double rounded(double x) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  return (x + shift) - shift;
}

constexpr double LARGE_ANGLE = 1e5;  // [rad], up to which the reduction is exact

// sin(x) and cos(x) to about one unit in the last place, for angles that are not large: reduction
// to a quarter turn about 0 (Cody and Waite, "Software Manual for the Elementary Functions",
// 1980), then Taylor series, whose next terms are below 1e-17 there. Without branches, so that a
// loop over it becomes vector instructions.
inline SineCosine reduced_sine_and_cosine(double x) {
  const double k = rounded(x * (2.0 / PI));
  // pi/2 in three parts of 33, 33 and 53 bits: their products with small integers are exact.
  const double r =
      ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21;
  const double z = r * r;
  double s = 1.0 / 6227020800.0 - z / 1307674368000.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = s * z * r + r;
  double t = z / 20922789888000.0 - 1.0 / 87178291200.0;
  t = t * z + 1.0 / 479001600.0;
  t = t * z - 1.0 / 3628800.0;
  t = t * z + 1.0 / 40320.0;
  t = t * z - 1.0 / 720.0;
  t = t * z + 1.0 / 24.0;
  t = t * z - 0.5;
  t = t * z + 1.0;
  const double quarter = k - 4.0 * rounded(0.25 * k);  // -2 to 2
  const bool is_odd = quarter == 1.0 || quarter == -1.0;
  const double sine = is_odd ? t : s, cosine = is_odd ? s : t;
  return {quarter == 0.0 || quarter == 1.0 ? sine : -sine,
          quarter == 0.0 || quarter == -1.0 ? cosine : -cosine};
}

// The angle of the direction (x, y) of length r: twice that of (r + x, y), whose tangent is at
// most tan(pi/8) in the first octant. The approximation is that of atan.c in Moshier's Cephes
// library. Without branches, which nothing could predict.
[[gnu::always_inline]] inline double arctangent(double y, double x, double r) {
  const double a = std::abs(x), b = std::abs(y);
  const double is_steep = b > a ? 1.0 : 0.0, is_behind = x < 0.0 ? 1.0 : 0.0;
  const double t = (a < b ? a : b) / (r + (a < b ? b : a)), z = t * t;
  double above = -8.750608600031904e-1 * z - 1.6157537187333652e1;
  above = (above * z - 7.500855792314705e1) * z - 1.2288666844901362e2;
  above = above * z - 6.485021904942025e1;
  double below = (z + 2.485846490142306e1) * z + 1.650270098316988e2;
  below = (below * z + 4.328810604912902e2) * z + 4.853903996359137e2;
  below = below * z + 1.945506571482614e2;
  double angle = 2.0 * (t + t * z * above / below);
  angle = is_steep * (0.5 * PI) + (1.0 - 2.0 * is_steep) * angle;
  angle = is_behind * PI + (1.0 - 2.0 * is_behind) * angle;
  return std::copysign(angle, y);
}

inline SineCosine sine_and_cosine(double x) {
  if (!(std::abs(x) < LARGE_ANGLE)) return {std::sin(x), std::cos(x)};
  return reduced_sine_and_cosine(x);
}

// Fills the sines and cosines of n angles.
inline void fill_sines_and_cosines(int n, const double* x, double* sine, double* cosine) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = std::abs(x[i]) > largest ? std::abs(x[i]) : largest;
  for (int i = 0; i < n; ++i) {
    const auto [s, k] = reduced_sine_and_cosine(x[i]);
    sine[i] = s;
    cosine[i] = k;
  }
  if (largest < LARGE_ANGLE) return;
  for (int i = 0; i < n; ++i) {
    sine[i] = std::sin(x[i]);
    cosine[i] = std::cos(x[i]);
  }
}

// a turned about the unit vector w (Rodrigues), by the angle of sine s and cosine k.
[[gnu::always_inline]] inline Vector turned(Vector w, double s, double k, Vector a) {
  return k * a + s * cross(w, a) + ((1.0 - k) * dot(w, a)) * w;
}

// Rot(w, q) R.
[[gnu::always_inline]] inline Rotation turned(Vector w, double s, double k, const Rotation& R) {
  const Rotation C = transposed(R);
  return transposed({turned(w, s, k, C.x), turned(w, s, k, C.y), turned(w, s, k, C.z)});
}

// The angle in (-pi, pi].
inline double wrapped(double angle) {
  const double turned = angle - 2.0 * PI * std::floor(angle / (2.0 * PI) + 0.5);
  return turned <= -PI ? PI : turned;  // NaN stays
}

}  // namespace arm
