// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The error of a pose against a target, and its derivative by the joints.
//
// All is in the target's frame (Workspace::base is inverse(target) B0), so that the pose of the
// tip is the error. The rotation vector of the tip against the target has the same components
// along the axes of both: only the position and the tilt of an axis depend on the axes chosen.
#pragma once

#include <algorithm>

#include "chain.hpp"

namespace arm {

// The part of the orientation that counts; kernels/layout.py has the same values.
enum class Orientation { nothing, axis, rotation };
enum Quality { FAILED, WITHIN, EXACT };  // outside and within the tolerances, within the aim

// What counts as a solution; its fields are those of options_dtype in kernels/layout.py.
struct Options {
  double orientation;      // an Orientation
  SixVector weights;       // in the sum that a descent minimises [1/m], [1/rad]; 0 if free
  SixVector bounds;        // 1 / tolerances [1/m], [1/rad]; 0 if free
  SixVector even;          // weights without tolerances, for motion that changes no error
  double position_box;     // 1 if each component has its tolerance, 0 if the distance has one
  double orientation_box;  // 1 if each component has its tolerance, 0 if the angle has one
  double in_tip;           // 1 if components lie along the tip's axes, 0 along the target's
  double reachable_cost;   // weighted half squared error above which no tolerance can be met
  Vector axis;             // the axis whose direction counts, in tip and target frame
  double aim;              // target accuracy, as a fraction of the tolerances or defaults
  double exact_minimum;    // 1 to descend to the minimum even if it is not a solution
  double starts;           // number of starts that a call of the search may use
  double smallest_gain;    // of a null-space step, as a fraction of the squared distance from the
                           // preferred posture; 0 without a null space
  double centred;          // 1 if mid-range is the preferred posture, 0 if the seed is
  double time_limit;       // of a call [s]
  double keep_seed;        // 1 if a seed within the tolerances is the solution

  // Weights of the joints (n) in distances, which follow.
  const double* joint_weights() const { return reinterpret_cast<const double*>(this + 1); }
  Orientation part() const {
    if (orientation == 0.0) return Orientation::nothing;
    return orientation == 1.0 ? Orientation::axis : Orientation::rotation;
  }
  bool position_in_tip() const { return position_box != 0.0 && in_tip != 0.0; }
};
static_assert(sizeof(Options) == 33 * sizeof(double));

// A target of a chain, with what a computation of its solutions knows.
struct Problem : Workspace {
  const Options* opt;
  const double* seed;

  // Fills the base as seen from the target, inverse(T) B0, the preferred positions and their
  // weights (pull), and the weights of the damping.
  Problem(const Chain& c, const Options& opt, const Motion& T, const double* seed)
      : Workspace(c), opt(&opt), seed(seed) {
    const Motion& B = c.base().fixed;
    base = {transposed(T.rotation) * B.rotation,
            rotated_back(T.rotation, B.position - T.position)};
    for (int i = 0; i < n; ++i) {
      JointState& joint = joints[i];
      joint.damping_weight = 1.0 / (c[i].unit * c[i].unit);
      joint.preferred = seed[i];
      joint.pull = opt.joint_weights()[i];
      if (opt.centred == 0.0) continue;
      double half = PI * c[i].unit;
      if (c[i].upper - c[i].lower < INFINITE) {
        joint.preferred = 0.5 * (c[i].lower + c[i].upper);
        half = std::max(0.5 * (c[i].upper - c[i].lower), 1e-6 * c[i].unit);
      }
      joint.pull /= half * half;
    }
  }
};

inline double weighted_square(const SixVector& w, const SixVector& e) {
  const Vector a = scaled(w.position, e.position), b = scaled(w.orientation, e.orientation);
  return dot(a, a) + b.x * b.x + b.y * b.y + b.z * b.z;
}

// The logarithm of a rotation, by the quaternion, from its largest component (Shepperd 1978):
// accurate at 0 and at pi.
inline Vector rotation_vector(const Rotation& R) {
  double x = R.z.y - R.y.z, y = R.x.z - R.z.x, z = R.y.x - R.x.y, w = 0.0;
  const double trace = R.x.x + R.y.y + R.z.z;
  if (trace > 0.0) {
    w = 1.0 + trace;
  } else if (R.x.x >= R.y.y && R.x.x >= R.z.z) {
    w = x, x = 1.0 + 2.0 * R.x.x - trace, y = R.x.y + R.y.x, z = R.x.z + R.z.x;
  } else if (R.y.y >= R.z.z) {
    w = y, x = R.x.y + R.y.x, y = 1.0 + 2.0 * R.y.y - trace, z = R.y.z + R.z.y;
  } else {
    w = z, x = R.x.z + R.z.x, y = R.y.z + R.z.y, z = 1.0 + 2.0 * R.z.z - trace;
  }
  const double sign = w < 0.0 ? -1.0 : 1.0;
  w *= sign;
  const double square = x * x + y * y + z * z;
  double scale = 2.0 * sign / w;
  if (square > 1e-12 * w * w) {
    const double sine = std::sqrt(square);
    scale = 2.0 * sign * arctangent(sine, w, std::sqrt(square + w * w)) / sine;
  }
  return {scale * x, scale * y, scale * z};
}

struct Tilt {
  Vector normal;
  double angle, sine;
};

// The unit normal of two directions, and the angle from a to b and its sine.
inline Tilt tilt_between(Vector a, Vector b) {
  const Vector u = cross(a, b);
  const double sine = length(u), angle = std::atan2(sine, dot(a, b));
  if (sine > 1e-9) return {1.0 / sine * u, angle, sine};
  // Parallel or opposite: any normal will do.
  const Vector v = std::abs(b.x) < 0.6 ? Vector{0.0, b.z, -b.y} : Vector{-b.z, 0.0, b.x};
  return {1.0 / length(v) * v, angle, sine};
}

// An axis of the tip in the target's frame, or of the target in the tip's.
inline Vector in_other_frame(Vector axis, bool in_tip, const Workspace& W) {
  return in_tip ? rotated_back(W.tip.rotation, axis) : W.tip.rotation * axis;
}

// The rotation from an axis of the target to the same axis of the tip: (angle, 0, 0), or for a box
// the shortest rotation vector, along the target's axes or, with the opposite sign, the tip's.
inline Vector tilt(const Problem& W) {
  const Options& opt = *W.opt;
  const bool box = opt.orientation_box != 0.0, in_tip = opt.in_tip != 0.0;
  const auto [u, angle, sine] = tilt_between(opt.axis, in_other_frame(opt.axis, box && in_tip, W));
  if (!box) return {angle, 0.0, 0.0};
  return (in_tip ? -angle : angle) * u;
}

// Fills in the error of the tip pose left by `move`; returns half its weighted square.
inline double measure(const Problem& W, SixVector& e) {
  const Options& opt = *W.opt;
  e.position = opt.position_in_tip() ? in_other_frame(W.tip.position, true, W) : W.tip.position;
  e.orientation = {0.0, 0.0, 0.0};
  if (opt.part() == Orientation::rotation) e.orientation = rotation_vector(W.tip.rotation);
  if (opt.part() == Orientation::axis) e.orientation = tilt(W);
  return 0.5 * weighted_square(opt.weights, e);
}

// One over the default tolerances [1/m], [1/rad].
constexpr double DEFAULT_POSITION_BOUND = 1.0 / 1e-5, DEFAULT_ORIENTATION_BOUND = 1.0 / 1e-4;

// The quality of three components, separately (box) or by their length.
inline Quality quality_of(Vector e, Vector bounds, bool box, double standard, double aim) {
  if (!box) {
    const double square = dot(e, e), bound = bounds.x, exact = std::max(bound, standard);
    if (!(square * bound * bound <= 1.0)) return FAILED;
    return bound == 0.0 || square * exact * exact <= aim * aim ? EXACT : WITHIN;
  }
  Quality quality = EXACT;
  for (const double Vector::* k : {&Vector::x, &Vector::y, &Vector::z}) {
    const double size = std::abs(e.*k), bound = bounds.*k;
    if (!(size * bound <= 1.0)) return FAILED;
    if (!(bound == 0.0 || size * std::max(bound, standard) <= aim)) quality = WITHIN;
  }
  return quality;
}

inline Quality quality(const Options& opt, const SixVector& e, double cost) {
  if (!(cost <= opt.reachable_cost)) return FAILED;
  return std::min(quality_of(e.position, opt.bounds.position, opt.position_box != 0.0,
                             DEFAULT_POSITION_BOUND, opt.aim),
                  quality_of(e.orientation, opt.bounds.orientation, opt.orientation_box != 0.0,
                             DEFAULT_ORIENTATION_BOUND, opt.aim));
}

constexpr double INSIDE = 1.0 - 1e-6;  // fraction of the tolerances above which an error is excess

// The fraction of each of three components that is outside the tolerances.
inline Vector excess_fractions(Vector e, Vector bounds, bool box) {
  const auto fraction = [](double size, double bound) {
    return size * bound > INSIDE ? 1.0 - INSIDE / (size * bound) : 0.0;
  };
  const double size = length(e);
  const Vector sizes =
      box ? Vector{std::abs(e.x), std::abs(e.y), std::abs(e.z)} : Vector{size, size, size};
  return {fraction(sizes.x, bounds.x), fraction(sizes.y, bounds.y), fraction(sizes.z, bounds.z)};
}

// Half the squared excess of an error over the tolerances, weighted as by `measure`.
inline double half_square_of_excess(const Options& opt, const SixVector& e) {
  const Vector position =
      excess_fractions(e.position, opt.bounds.position, opt.position_box != 0.0);
  const Vector orientation =
      excess_fractions(e.orientation, opt.bounds.orientation, opt.orientation_box != 0.0);
  const SixVector excess = {scaled(position, e.position), scaled(orientation, e.orientation)};
  return 0.5 * weighted_square(opt.weights, excess);
}

// Replaces three components of the error by their excess, and the columns by its derivative: a
// root of the Hessian of the squared distance from the tolerances. For a bound of the length,
// tangential motion counts by the fraction of the excess.
inline void keep_excess_of(Workspace& W, Vector& e, Vector JointState::* column, Vector bounds,
                           bool box) {
  const Vector s = excess_fractions(e, bounds, box);
  const double size = length(e);
  const Vector u = size > 0.0 ? 1.0 / size * e : e;
  for (int i = 0; i < W.n; ++i) {
    Vector& a = W[i].*column;
    if (box) {
      a = {s.x > 0.0 ? a.x : 0.0, s.y > 0.0 ? a.y : 0.0, s.z > 0.0 ? a.z : 0.0};
    } else {
      const double root = std::sqrt(s.x);
      const double along = s.x > 0.0 ? (1.0 - root) * dot(u, a) : 0.0;
      a = root * a + along * u;
    }
  }
  e = scaled(s, e);
}

inline void keep_excess(Problem& W) {
  const Options& opt = *W.opt;
  keep_excess_of(W, W.error.position, &JointState::linear, opt.bounds.position,
                 opt.position_box != 0.0);
  keep_excess_of(W, W.error.orientation, &JointState::angular, opt.bounds.orientation,
                 opt.orientation_box != 0.0);
}

// Moves the tip to q, and measures the error there.
inline double measure_posture(Problem& W) {
  move(W, &JointState::q);
  return W.cost = measure(W, W.error);
}

// Applies the inverse left Jacobian to the angular columns (Barfoot, "State Estimation for
// Robotics", 2017, 7.1). Only needed if components have different weights: otherwise the gradient
// is the same.
inline void derive_rotation_vector(Workspace& W) {
  const Vector e = W.error.orientation;
  const double square = dot(e, e);
  if (square < 1e-16) return;
  double k = 1.0 / 12.0 + square / 720.0;
  if (square > 1e-3) {
    const double half = 0.5 * std::sqrt(square);
    k = (1.0 - half * std::cos(half) / std::sin(half)) / square;
  }
  for (int i = 0; i < W.n; ++i) {
    const Vector once = cross(e, W[i].angular);
    W[i].angular = W[i].angular + -0.5 * once + k * cross(e, once);
  }
}

constexpr double MAX_SIDEWAYS = 3.0;  // of the sideways velocity, which diverges at half a turn

// Fills the derivative of a tilt: the angular velocity about the common normal u, and the sideways
// velocity on the sphere of directions, which keeps the step from overshooting. In a box, both are
// resolved along the axes.
inline void derive_tilt(Problem& W) {
  const Options& opt = *W.opt;
  const bool box = opt.orientation_box != 0.0, in_tip = box && opt.in_tip != 0.0;
  const Vector b = in_other_frame(opt.axis, in_tip, W);
  const auto [u, angle, sine] = tilt_between(opt.axis, b);
  const Vector v = cross(b, u), s = cross(opt.axis, u);
  const double sideways = sine > 1e-9 ? std::min(angle / sine, MAX_SIDEWAYS) : 1.0;
  for (int i = 0; i < W.n; ++i) {
    const Vector w = in_tip ? in_other_frame(W[i].angular, true, W) : W[i].angular;
    const double about_u = dot(u, w), swing = sideways * dot(v, w);
    W[i].angular = box ? about_u * u + swing * s : Vector{about_u, swing, 0.0};
  }
}

// Fills the columns with the derivative of the error at the pose left by `move`.
inline void derive(Problem& W) {
  const Options& opt = *W.opt;
  fill_jacobian(W);
  if (opt.position_in_tip())
    for (int i = 0; i < W.n; ++i) {  // the tip's axes turn with the tip
      const Vector lever = cross(W[i].angular, W.tip.position);
      W[i].linear = in_other_frame(W[i].linear - lever, true, W);
    }
  if (opt.part() == Orientation::rotation && opt.orientation_box != 0.0) derive_rotation_vector(W);
  if (opt.part() == Orientation::axis) derive_tilt(W);
}

}  // namespace arm
