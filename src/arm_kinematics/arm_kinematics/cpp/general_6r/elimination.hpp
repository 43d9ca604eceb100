// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Elimination: from the loop equations of a 6R arm to an eigenvalue problem of size 16.
//
// The loop of a 6R arm that holds its tip at T is
//
//     e1(q1) e2(q2) e3(q3) e4(q4) e5(q5) e6(q6) = H,    H = T M^-1,
//
// where ei turns about the axis of joint i. It may be opened at any joint and read in either
// direction: twelve orders of the same loop (Raghavan and Roth 1990 use the first).
//
// With C(x) the 14 coordinates of a line element, the loop requires
//
//     C(e3 e4 e5 x) = C(e2^-1 e1^-1 H x),    x on axis 6, which e6 leaves where it is.
//
// 1. Both sides are bilinear in (cos, sin, 1) of two joints; e3, about z, turns the first 8
//    coordinates (x and y parts) and leaves the last 6. Six combinations V of the 14 equations are
//    free of joints 1 and 2 (the orthogonal complement of their 8 coefficients; Raghavan and Roth
//    1990, 1993 pick rows instead). With u the 9 products of joints 4 and 5:
//
//        V1 R(q3) f u + (V0 h - d) u = 0,    6 equations, R a rotation of pairs.
//
// 2. Times cos(q4/2) and times sin(q4/2): 12 equations in the 12 products v of
//    (cos 3q4/2, sin 3q4/2, cos q4/2, sin q4/2) and (cos q5, sin q5, 1): the dialytic step, in a
//    basis that is orthogonal and finite at half a turn:
//
//        B v + G R(q3) F v = 0,    B 12 x 12, G 12 x 16, F 16 x 12.
//
// 3. With w = R(q3) F v: (v, w) is in the null space of [B G], of dimension 16, with the basis
//    (Zv, Zw), and R(q3) F Zv s = Zw s. The Cayley transform R = (1 + xJ)/(1 - xJ), x = tan(q3/2),
//    J a quarter turn of all pairs, leaves
//
//        (F Zv - Zw) s = -x J (F Zv + Zw) s.
//
// The 8 eigenvalues x = +-i of Manocha and Canny's pencil of size 24 ("Efficient inverse
// kinematics for general 6R manipulators", IEEE Trans. Robotics and Automation 10(5), 1994) never
// appear: the other 16 belong to the 16 solutions. All steps but the products are orthogonal.
#pragma once

#include "../vectors.hpp"

namespace arm {

// A line: a point on it, its unit direction. A line element is the same: a point, a direction.
struct Line {
  Vector point, direction;
};

struct LoopJoint {
  Line axis;       // at q = 0, lengths over the unit
  double carried;  // 1 if the loop was opened after this joint, so that H^-1 carries its axis
  double joint;    // index in the arm
};

// One order of the loop; its fields are those of LOOP in kernels/layout.py.
struct Loop {
  LoopJoint joints[6];
  double unit;      // of length [m]
  double reversed;  // 1 if the loop is read backwards
};

// The lines of a loop, seen from a frame whose z axis is axis 3.
struct Lines {
  Line axes[6];
  Line last, target;    // e1 ... e5 bring axis 6 (last) to axis 6 carried by H (target)
  Line element, twist;  // e1 ... e6 bring an element perpendicular to axis 6 (element) to twist
};

constexpr int COORDINATES = 14;  // of a line element
constexpr int TURNED = 8;        // of these a turn about z mixes: 4 x parts, 4 y parts
constexpr int EQUATIONS = 6;     // without joints 1 and 2
constexpr int PRODUCTS = 12;     // entries of v
constexpr int SIZE = 16;         // of the eigenvalue problem
constexpr double SQRT_3 = 1.7320508075688772;
constexpr double THIRD_SINES[] = {0.0, 0.5 * SQRT_3, -0.5 * SQRT_3};  // of thirds of a turn
constexpr double THIRD_COSINES[] = {1.0, -0.5, -0.5};

// A line (element) turned about an axis by the angle of sine s, cosine k.
inline Line turned(const Line& axis, double s, double k, const Line& x) {
  return {axis.point + turned(axis.direction, s, k, x.point - axis.point),
          turned(axis.direction, s, k, x.direction)};
}

inline Line operator*(const Motion& G, const Line& x) {
  return {G * x.point, G.rotation * x.direction};
}

// A unit vector perpendicular to another one.
inline Vector perpendicular_to(Vector a) {
  Vector e = {1.0, 0.0, 0.0};
  if (std::abs(a.y) < std::abs(a.x)) e = {0.0, 1.0, 0.0};
  if (std::abs(a.z) < std::fmin(std::abs(a.x), std::abs(a.y))) e = {0.0, 0.0, 1.0};
  const double part = dot(e, a);
  return (1.0 / std::sqrt(1.0 - part * part)) * (e - part * a);
}

// The motion to a frame on an axis: z along it, its origin amid the neighbours.
inline Motion frame_on(const Line& axis, const Line& before, const Line& behind) {
  const Vector z = axis.direction, x = perpendicular_to(z);
  const Rotation R = {x, cross(z, x), z};
  const Vector middle = 0.5 * (before.point + behind.point);
  const Vector origin = axis.point + dot(z, middle - axis.point) * z;
  return {R, -1.0 * (R * origin)};
}

// The lines of one order of the loop for a motion H.
inline Lines open_loop(const Loop& loop, const Motion& H) {
  Motion forth = H;
  forth.position = 1.0 / loop.unit * H.position;
  Motion back = inverse(forth);
  if (loop.reversed != 0.0) std::swap(forth, back);
  Lines lines;
  for (int i = 0; i < 6; ++i) {
    const LoopJoint& joint = loop.joints[i];
    lines.axes[i] = joint.carried != 0.0 ? back * joint.axis : joint.axis;
  }
  lines.last = lines.axes[5];
  lines.element = {lines.last.point, perpendicular_to(lines.last.direction)};
  lines.target = forth * lines.last;
  lines.twist = forth * lines.element;
  const Motion F = frame_on(lines.axes[2], lines.axes[1], lines.axes[3]);
  for (Line& axis : lines.axes) axis = F * axis;
  for (Line* line : {&lines.last, &lines.target, &lines.element, &lines.twist}) *line = F * *line;
  return lines;
}

// Fills y with the 14 coordinates of a line element (p, l) that are bilinear in two joints: p, l,
// p x l, (p.p) l - 2 (p.l) p, p.p and p.l (Raghavan and Roth 1990): those of the point and of the
// element in conformal geometry, where a rotation acts as a matrix of its sine, its cosine and 1.
// First the x, then the y components of the four vectors, then the invariants of a turn about z:
// their z components, p.p and p.l.
inline void fill_coordinates(const Line& x, double* y) {
  const auto& [p, l] = x;
  const double pp = dot(p, p), pl = dot(p, l);
  const Vector moment = cross(p, l), inverted = pp * l - 2.0 * pl * p;
  const double values[] = {p.x,        l.x, moment.x, inverted.x, p.y,        l.y, moment.y,
                           inverted.y, p.z, l.z,      moment.z,   inverted.z, pp,  pl};
  for (int k = 0; k < COORDINATES; ++k) y[k] = values[k];
}

using Bilinear = double[9][COORDINATES];

// Turns samples at 0, 1/3 and 2/3 of a turn into coefficients of cos, sin and 1, in place.
inline void transform_fourier(double* a, double* b, double* c) {
  for (int k = 0; k < COORDINATES; ++k) {
    const double f = a[k], g = b[k], h = c[k];
    a[k] = (2.0 * f - g - h) / 3.0;
    b[k] = (g - h) / SQRT_3;
    c[k] = (f + g + h) / 3.0;
  }
}

// Fills the coordinates of x turned about inner by b, then about outer by a: row 3 i + j holds the
// coefficients of the i-th of (cos a, sin a, 1) times the j-th of (cos b, sin b, 1).
inline void fill_bilinear(const Line& inner, const Line& outer, const Line& x, Bilinear& C) {
  for (int j = 0; j < 3; ++j) {
    const Line y = turned(inner, THIRD_SINES[j], THIRD_COSINES[j], x);
    for (int i = 0; i < 3; ++i)
      fill_coordinates(turned(outer, THIRD_SINES[i], THIRD_COSINES[i], y), C[3 * i + j]);
  }
  for (int i = 0; i < 3; ++i) transform_fourier(C[3 * i], C[3 * i + 1], C[3 * i + 2]);
  for (int j = 0; j < 3; ++j) transform_fourier(C[j], C[3 + j], C[6 + j]);
}

// Reflects a row at the plane perpendicular to the entries of `normal` from the first on.
inline void reflect(const double* normal, int first, int size, double* row) {
  double square = 0.0, product = 0.0;
  for (int k = first; k < size; ++k) {
    square += normal[k] * normal[k];
    product += normal[k] * row[k];
  }
  if (square == 0.0) return;
  product *= 2.0 / square;
  for (int k = first; k < size; ++k) row[k] -= product * normal[k];
}

// Fills Z (size - n, size) with orthonormal rows perpendicular to the n rows of A, which is used
// up: Householder's reflections, applied to the last unit vectors.
template <int n, int size>
void fill_complement(double (&A)[n][size], double (*Z)[size]) {
  for (int i = 0; i < n; ++i) {
    double norm = 0.0;
    for (int k = i; k < size; ++k) norm += A[i][k] * A[i][k];
    norm = std::sqrt(norm);
    A[i][i] += A[i][i] >= 0.0 ? norm : -norm;
    for (int j = i + 1; j < n; ++j) reflect(A[i], i, size, A[j]);
  }
  for (int j = 0; j < size - n; ++j) {
    for (int k = 0; k < size; ++k) Z[j][k] = k == n + j ? 1.0 : 0.0;
    for (int i = n - 1; i >= 0; --i) reflect(A[i], i, size, Z[j]);
  }
}

// Writes u, linear in (cos a, sin a, 1), times cos(a/2) or sin(a/2) in the basis of v.
inline void raise_degree(const double* u, bool by_sine, double* v) {
  for (int j = 0; j < 3; ++j) {
    const double k = 0.5 * u[j], s = 0.5 * u[3 + j], one = u[6 + j];
    v[j] = by_sine ? -s : k;
    v[3 + j] = by_sine ? k : s;
    v[6 + j] = by_sine ? s : k + one;
    v[9 + j] = by_sine ? one - k : s;
  }
}

struct Dialytic {
  double F[SIZE][PRODUCTS];
  double BG[2 * EQUATIONS][PRODUCTS + SIZE];  // [B G]
};

// The index of coordinate k in a row of F, times cosine (j = 0) or sine.
inline int row_of(int k, int j) { return 8 * (k / 4) + 4 * j + k % 4; }

// Fills F and [B G]; the last row of `before` is d.
inline void fill_dialytic(const Bilinear& before, const Bilinear& behind,
                          const double (*V)[COORDINATES], Dialytic& out) {
  double u[9];
  for (int k = 0; k < TURNED; ++k) {
    for (int m = 0; m < 9; ++m) u[m] = behind[m][k];
    for (int j = 0; j < 2; ++j) raise_degree(u, j == 1, out.F[row_of(k, j)]);
  }
  for (int r = 0; r < EQUATIONS; ++r) {
    for (int m = 0; m < 9; ++m) {
      u[m] = 0.0;
      for (int k = TURNED; k < COORDINATES; ++k) u[m] += V[r][k] * behind[m][k];
    }
    for (int k = 0; k < COORDINATES; ++k) u[8] -= V[r][k] * before[8][k];
    for (int j = 0; j < 2; ++j) {
      double* row = out.BG[EQUATIONS * j + r];
      for (int k = 0; k < PRODUCTS + SIZE; ++k) row[k] = 0.0;
      raise_degree(u, j == 1, row);
      for (int k = 0; k < TURNED; ++k) row[PRODUCTS + row_of(k, j)] = V[r][k];
    }
  }
}

using NullSpace = double[SIZE][PRODUCTS + SIZE];  // a row (v, w) for each entry of s
using Pencil = double[2 * SIZE][SIZE];            // transposes of both sides

// Fills row i with F Zv - Zw of the i-th row of Z, row 16 + i with -J (F Zv + Zw).
inline void fill_pencil(const double (*F)[PRODUCTS], const NullSpace& Z, Pencil& P) {
  for (int i = 0; i < SIZE; ++i)
    for (int k = 0; k < SIZE; ++k) {
      double product = 0.0;
      for (int m = 0; m < PRODUCTS; ++m) product += F[k][m] * Z[i][m];
      P[i][k] = product - Z[i][PRODUCTS + k];
      const double sum = product + Z[i][PRODUCTS + k];
      P[SIZE + i][k < 8 ? k + 8 : k - 8] = k < 8 ? -sum : sum;
    }
}

// Sets up the eigenvalue problem of one order of the loop for a motion H.
inline void eliminate(const Loop& loop, const Pose& H, Lines& lines, NullSpace& Z, Pencil& P) {
  lines = open_loop(loop, H.motion());
  Bilinear before, behind;
  fill_bilinear(lines.axes[0], lines.axes[1], lines.target, before);
  fill_bilinear(lines.axes[4], lines.axes[3], lines.last, behind);
  double Q[TURNED][COORDINATES], V[EQUATIONS][COORDINATES];
  for (int i = 0; i < TURNED; ++i)
    for (int k = 0; k < COORDINATES; ++k) Q[i][k] = before[i][k];
  fill_complement(Q, V);
  Dialytic dialytic;
  fill_dialytic(before, behind, V, dialytic);
  fill_complement(dialytic.BG, Z);
  fill_pencil(dialytic.F, Z, P);
}

}  // namespace arm
