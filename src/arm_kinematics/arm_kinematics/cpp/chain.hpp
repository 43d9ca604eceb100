// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Forward kinematics and Jacobian of a serial chain B0 D1(q1) B1 ... Dn(qn) Bn, where Di turns
// about its own z axis (revolute) or slides along it (prismatic). The fixed motions B come from
// the screws and the home pose (ik/search_model.py).
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "vectors.hpp"

namespace arm {

constexpr int MAX_JOINTS = 128;  // as model/chain_model.py
constexpr int FEW_JOINTS = 8;    // up to which the workspace needs no allocation

// A row of the table of constants; its fields are those of JOINT in kernels/layout.py. The first
// row is the base, of which only `fixed` and `leader` (1 if any joint mimics another) count.
//
// A mimic joint has no limits here and is not an unknown: its column of the Jacobian is added to
// its leader's and then set to zero, so that no step moves it.
struct Joint {
  Motion fixed;         // B: from behind this joint to the next one
  double prismatic;     // 1 or 0
  double lower, upper;  // limits
  double unit;          // the motion that is equivalent to one radian
  double spacing;       // its step in the sequence of starts
  double period;        // a whole turn if that does not change the pose, else 0
  double leader;        // index of the joint that it mimics, its own if it is independent
  double ratio;         // its motion per motion of the leader
};
static_assert(sizeof(Joint) == 20 * sizeof(double));

struct Chain {
  int n;
  const Joint* rows;
  const Joint& base() const { return rows[0]; }
  const Joint& operator[](int i) const { return rows[i + 1]; }
  bool has_mimic_joints() const { return rows[0].leader != 0.0; }
  int leader(int i) const { return static_cast<int>((*this)[i].leader); }
};

[[gnu::always_inline]] inline double clipped(double q, const Joint& j) {
  return q < j.lower ? j.lower : q > j.upper ? j.upper : q;
}

inline void require(bool valid, const char* text) {
  if (!valid) throw std::invalid_argument(text);
}

// Elements in a row, and rows of elements; filled in unless they are const.
template <class T>
struct Span {
  T* values;
  int size;
  operator T*() const { return values; }
};

template <class T>
struct Table {
  T* values;
  int count, size;
  Span<T> operator[](int i) const { return {values + i * size, size}; }
};

using Row = Span<const double>;
using Rows = Table<const double>;
using RowToFill = Span<double>;
using RowsToFill = Table<double>;
using Poses = Span<const Pose>;
using Two = std::pair<int, int>;

// Of a pose: the error is position [m], and rotation vector or tilt [rad].
struct SixVector {
  Vector position, orientation;
};

// What a computation knows of a joint.
struct JointState {
  Vector axis, point;      // in the frame in which the base is given
  Vector linear, angular;  // column of the Jacobian, or of the derivative of the error
  double q, trial, delta, gradient;
  double free;  // 1, or 0 for a joint that a step must not move
  double damping_weight, pull, preferred, saved, step;
};

// An array of trivial elements, on the stack if it is small; not initialised.
template <class T, int few>
class Buffer {
 public:
  explicit Buffer(int size) : large_(size > few ? new T[size] : nullptr) {
    data_ = large_ ? large_.get() : small_;
  }
  T& operator[](int i) { return data_[i]; }
  const T& operator[](int i) const { return data_[i]; }

 private:
  T small_[few];
  std::unique_ptr<T[]> large_;
  T* data_;
};

using Numbers = Buffer<double, FEW_JOINTS>;
using Matrix = Buffer<double, FEW_JOINTS * FEW_JOINTS>;  // (n, n), row by row

// What one computation with a chain works with.
struct Workspace {
  const Chain chain;
  const int n;
  Motion base, tip;  // B0 as seen from the target, or in its own frame; and the pose of the tip
  SixVector error, trial_error;
  double cost;               // weighted half square of the error
  double evaluations = 0.0;  // of the error
  Buffer<JointState, FEW_JOINTS> joints;
  Numbers position, sine, cosine;  // of the joints when `move` was called
  Matrix system;                   // lower half of the normal equations

  explicit Workspace(const Chain& chain)
      : chain(chain), n(chain.n), joints(n), position(n), sine(n), cosine(n), system(n * n) {}
  JointState& operator[](int i) { return joints[i]; }
  const JointState& operator[](int i) const { return joints[i]; }
};

// R Rot(z, q), from the sine and cosine of q.
[[gnu::always_inline]] inline Rotation turned_about_z(const Rotation& R, double s, double k) {
  const auto turned = [s, k](Vector row) {
    return Vector{k * row.x + s * row.y, k * row.y - s * row.x, row.z};
  };
  return {turned(R.x), turned(R.y), turned(R.z)};
}

// Moves the tip to the positions in W, with their sines and cosines: fills axes, points and the
// tip.
inline void move(Workspace& W) {
  const Chain& c = W.chain;
  auto [R, p] = W.base;
  for (int i = 0; i < W.n; ++i) {
    JointState& joint = W[i];
    joint.axis = {R.x.z, R.y.z, R.z.z};
    joint.point = p;
    if (c[i].prismatic == 0.0) {
      R = turned_about_z(R, W.sine[i], W.cosine[i]);
    } else {
      p = p + W.position[i] * joint.axis;
    }
    p = p + R * c[i].fixed.position;
    R = R * c[i].fixed.rotation;
  }
  W.tip = {R, p};
}

// Moves the tip to the joint positions W[:].*which, the member q or trial.
inline void move(Workspace& W, double JointState::* which) {
  const Chain& c = W.chain;
  if (c.has_mimic_joints())
    for (int i = 0; i < W.n; ++i)
      if (c.leader(i) != i) W[i].*which = c[i].ratio * W[c.leader(i)].*which;
  for (int i = 0; i < W.n; ++i) W.position[i] = W[i].*which;
  fill_sines_and_cosines(W.n, &W.position[0], &W.sine[0], &W.cosine[0]);
  move(W);
}

// Fills the Jacobian at the pose left by `move`: velocity of the tip's origin, angular velocity
// (Lynch and Park, "Modern Robotics", 5.1, at the tip's origin).
inline void fill_jacobian(Workspace& W) {
  const Chain& c = W.chain;
  for (int i = 0; i < W.n; ++i) {
    JointState& joint = W[i];
    const bool turns = c[i].prismatic == 0.0;
    joint.linear = turns ? cross(joint.axis, W.tip.position - joint.point) : joint.axis;
    joint.angular = turns ? joint.axis : Vector{0.0, 0.0, 0.0};
  }
  if (!c.has_mimic_joints()) return;
  for (int i = 0; i < W.n; ++i) {
    if (c.leader(i) == i) continue;
    JointState& leader = W[c.leader(i)];
    leader.linear = leader.linear + c[i].ratio * W[i].linear;
    leader.angular = leader.angular + c[i].ratio * W[i].angular;
    W[i].linear = W[i].angular = {0.0, 0.0, 0.0};
  }
}

// Moves the tip to q (n), in the base frame; returns false if a position is not a finite number
// of reasonable size.
inline bool place(const double* q, Workspace& W) {
  for (int i = 0; i < W.n; ++i) {
    if (!(std::abs(q[i]) < 1e100)) return false;
    W[i].q = q[i];
  }
  W.base = W.chain.base().fixed;
  move(W, &JointState::q);
  return true;
}

// Writes the columns as a matrix (6, n): rows of the linear, then of the angular velocity.
inline void write_columns(const Workspace& W, double* J) {
  for (int i = 0; i < W.n; ++i) {
    const Vector v = W[i].linear, w = W[i].angular;
    const double column[] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int k = 0; k < 6; ++k) J[k * W.n + i] = column[k];
  }
}

}  // namespace arm
