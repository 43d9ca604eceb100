// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Recursive Newton-Euler algorithm for a tree of bodies.
//
// Luh, Walker and Paul, "On-line computational scheme for mechanical manipulators", J. Dyn. Sys.
// 102 (1980): outwards the motion of each body, inwards the forces, all in the body's own frame,
// whose z is the axis of its joint. Gravity is an acceleration of the base (Featherstone, "Rigid
// Body Dynamics Algorithms", 2008, 5.3).
#pragma once

#include <algorithm>

#include "chain.hpp"

namespace arm {

// A row of the table of arm_description/urdf/bodies.py. Its joint is at ratio q[leader] + offset,
// so mimic joints need no constraint: their torques count for their leaders. Rows are ordered so
// that a body comes after the one that carries it.
struct Body {
  Rotation rotation;  // of the joint's frame in that of the carrying body,
  Vector position;    // and its origin there
  double prismatic;   // 1 or 0
  double parent;      // index of the carrying body, -1 for the base
  double leader, ratio, offset;
  double mass;
  Vector moment;                  // mass times centre
  double xx, xy, xz, yy, yz, zz;  // inertia about the origin
};
static_assert(sizeof(Body) == 27 * sizeof(double));

struct BodyState {
  Vector spin, spin_rate, acceleration;  // angular velocity, its derivative; of the origin
  Vector force, torque;
  double sine, cosine;  // of the joint
  Vector origin;        // in the carrying body
};

using BodyRows = Span<const Body>;
using BodyStates = Buffer<BodyState, FEW_JOINTS>;

// Whether the bodies form a tree whose joints are driven by n independent ones.
inline bool is_tree(BodyRows bodies, int n) {
  for (int i = 0; i < bodies.size; ++i) {
    const Body& b = bodies[i];
    if (!(b.leader >= 0.0 && b.leader < n && b.parent >= -1.0 && b.parent < i)) return false;
  }
  return true;
}

// A vector of a body along the axes of the body that carries it.
inline Vector inwards(const Body& b, const BodyState& state, Vector a) {
  const double s = state.sine, k = state.cosine;
  return b.rotation * Vector{k * a.x - s * a.y, s * a.x + k * a.y, a.z};
}

// A vector of the carrying body along the axes of the body.
inline Vector outwards(const Body& b, const BodyState& state, Vector a) {
  const Vector v = rotated_back(b.rotation, a);
  const double s = state.sine, k = state.cosine;
  return {k * v.x + s * v.y, k * v.y - s * v.x, v.z};
}

// Fills sine, cosine and origin of a body with the joints at q.
inline void place(const Body& b, const double* q, BodyState& state) {
  const double value = b.ratio * q[static_cast<int>(b.leader)] + b.offset;
  const auto [s, k] = b.prismatic == 0.0 ? sine_and_cosine(value) : SineCosine{0.0, 1.0};
  const Vector axis = {b.rotation.x.z, b.rotation.y.z, b.rotation.z.z};
  state.sine = s;
  state.cosine = k;
  state.origin = b.prismatic == 0.0 ? b.position : b.position + value * axis;
}

// Fills the motion of body i, whose joint moves at the given velocity and acceleration.
inline void accelerate(const Body& b, int i, Vector base, double velocity, double acceleration,
                       BodyStates& states) {
  BodyState& state = states[i];
  Vector w = {0.0, 0.0, 0.0}, dw = w, a = base;
  if (b.parent >= 0.0) {
    const BodyState& carrier = states[static_cast<int>(b.parent)];
    w = carrier.spin, dw = carrier.spin_rate, a = carrier.acceleration;
  }
  a = a + cross(dw, state.origin) + cross(w, cross(w, state.origin));
  w = outwards(b, state, w), dw = outwards(b, state, dw), a = outwards(b, state, a);
  if (b.prismatic == 0.0) {  // w x (0, 0, velocity) turns with the carrying body
    dw = dw + Vector{w.y * velocity, -w.x * velocity, acceleration};
    w.z += velocity;
  } else {
    a = a + Vector{2.0 * w.y * velocity, -2.0 * w.x * velocity, acceleration};
  }
  state.spin = w, state.spin_rate = dw, state.acceleration = a;
}

// Fills force and torque, about its origin, that move a body alone.
inline void load(const Body& b, BodyState& state) {
  const auto inertia_times = [&](Vector w) {
    return Vector{dot({b.xx, b.xy, b.xz}, w), dot({b.xy, b.yy, b.yz}, w),
                  dot({b.xz, b.yz, b.zz}, w)};
  };
  const Vector w = state.spin, dw = state.spin_rate, a = state.acceleration, h = b.moment;
  state.force = cross(dw, h) + cross(w, cross(w, h)) + b.mass * a;
  state.torque = cross(h, a) + cross(w, inertia_times(w)) + inertia_times(dw);
}

// Fills tau with the torques of a motion.
inline void fill_torques(BodyRows bodies, const double* q, const double* velocity,
                         const double* acceleration, Vector gravity, BodyStates& states,
                         RowToFill tau) {
  for (int i = 0; i < bodies.size; ++i) place(bodies[i], q, states[i]);
  for (int i = 0; i < bodies.size; ++i) {
    const Body& b = bodies[i];
    const int leader = static_cast<int>(b.leader);
    accelerate(b, i, -1.0 * gravity, b.ratio * velocity[leader], b.ratio * acceleration[leader],
               states);
    load(b, states[i]);
  }
  std::fill(tau.values, tau.values + tau.size, 0.0);
  for (int i = bodies.size - 1; i >= 0; --i) {
    const Body& b = bodies[i];
    const BodyState& state = states[i];
    const double along = b.prismatic == 0.0 ? state.torque.z : state.force.z;
    tau[static_cast<int>(b.leader)] += b.ratio * along;
    if (b.parent < 0.0) continue;
    BodyState& carrier = states[static_cast<int>(b.parent)];
    const Vector force = inwards(b, state, state.force);
    carrier.force = carrier.force + force;
    carrier.torque = carrier.torque + inwards(b, state, state.torque) + cross(state.origin, force);
  }
}

// Fills tau with the torques of the motion in each row; returns false if an input is not one
// number a joint, finite and of reasonable size.
inline bool inverse_dynamics(BodyRows bodies, Rows q, Rows velocity, Rows acceleration,
                             const Vector& gravity, RowsToFill tau) {
  if (!is_tree(bodies, tau.size)) return false;
  const auto is_fine = [](double value) { return std::abs(value) < 1e100; };
  for (const Rows& rows : {q, velocity, acceleration})
    if (rows.count != tau.count || rows.size != tau.size ||
        !std::all_of(rows.values, rows.values + rows.count * rows.size, is_fine))
      return false;
  BodyStates states(bodies.size);
  for (int k = 0; k < tau.count; ++k)
    fill_torques(bodies, q[k], velocity[k], acceleration[k], gravity, states, tau[k]);
  return true;
}

}  // namespace arm
