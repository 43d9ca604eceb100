// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Damped least squares inside joint limits: one descent, then motion along the null space.
//
// Levenberg-Marquardt with a damping that shrinks with the squared error (Sugihara, "Solvability-
// unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5),
// 2011), so that it converges quadratically and is robust at singular poses. Joints that a step
// would push through a limit are frozen for that step.
//
// A step of the projection minimises the weighted distance to the preferred joint positions among
// the steps that change no error, to first order: gradient projection (Liegeois, "Automatic
// supervisory control of the configuration and behavior of multibody mechanisms", IEEE Trans. SMC
// 7(12), 1977), here all the way to the projected minimum, and without joints that would pass a
// limit. A descent then removes the error of the second order; a posture that is worse within the
// tolerances, or not nearer, is rejected.
#pragma once

#include <type_traits>

#include "residuals.hpp"

namespace arm {

// Fills the lower half of J' V^2 J (system) and J' V^2 e (gradient), with diagonal V; returns the
// trace.
inline double fill_normal_equations(const SixVector& V, Workspace& W) {
  const Vector p = scaled(V.position, V.position), o = scaled(V.orientation, V.orientation);
  double trace = 0.0;
  for (int i = 0; i < W.n; ++i) {
    const Vector linear = scaled(p, W[i].linear), angular = scaled(o, W[i].angular);
    W[i].gradient = dot(linear, W.error.position) + dot(angular, W.error.orientation);
    for (int k = 0; k <= i; ++k)
      W.system[i * W.n + k] = dot(linear, W[k].linear) + dot(angular, W[k].angular);
    trace += W.system[i * W.n + i];
  }
  return trace;
}

// Solves (system + damping * diag(W[:].*diagonal) + floor) delta = -gradient for the free joints,
// by L D L'. The number n of joints may be a constant, with which the loops are unrolled.
template <class Count>
void solve_by_ldl(Count n, Workspace& W, double JointState::* diagonal, double damping,
                  double floor) {
  Matrix L(n * n);
  Numbers inverse_of_D(n);
  for (int i = 0; i < n; ++i) {
    double* row = &L[i * n];  // here L D while the row is built, then L
    double right = -W[i].free * W[i].gradient;
    double pivot = W.system[i * n + i] + damping * (W[i].*diagonal) + floor;
#pragma GCC unroll 8
    for (int k = 0; k < i; ++k) {
      double entry = W[i].free * W[k].free * W.system[i * n + k];
#pragma GCC unroll 8
      for (int m = 0; m < k; ++m) entry -= row[m] * L[k * n + m];
      row[k] = entry;
    }
#pragma GCC unroll 8
    for (int k = 0; k < i; ++k) {
      const double entry = row[k];
      row[k] = entry * inverse_of_D[k];
      pivot -= entry * row[k];
      right -= row[k] * W[k].delta;
    }
    inverse_of_D[i] = pivot > 0.0 ? 1.0 / pivot : 0.0;
    W[i].delta = right;
  }
#pragma GCC unroll 8
  for (int i = n - 1; i >= 0; --i) {
    double sum = W[i].delta * inverse_of_D[i];
    for (int m = i + 1; m < n; ++m) sum -= L[m * n + i] * W[m].delta;
    W[i].delta = sum;
  }
}

inline void solve_damped(Workspace& W, double JointState::* diagonal, double damping,
                         double floor) {
  const auto solve = [&](auto n) { solve_by_ldl(n, W, diagonal, damping, floor); };
  switch (W.n) {
    case 4: return solve(std::integral_constant<int, 4>());
    case 5: return solve(std::integral_constant<int, 5>());
    case 6: return solve(std::integral_constant<int, 6>());
    case 7: return solve(std::integral_constant<int, 7>());
    default: solve(W.n);
  }
}

constexpr int ITERATIONS = 60, RETRIES = 8;
constexpr double LONGEST_STEP = 1.2;            // [rad, or units of the joint]
constexpr double SHORTEST_STEP = 1e-9;          // likewise
constexpr double FIRST_DAMPING = 0.3;           // per half squared error
constexpr double LOOSEN = 0.5, TIGHTEN = 10.0;  // factors of the damping after a good, a bad step
constexpr double SMALLEST_DAMPING = 1e-12;
constexpr double FLAT = 1e-12;  // a gain below this fraction of the error counts as none
constexpr int PATIENCE = 2, PATIENCE_BY_EXCESS = 8;  // steps that must lower the error to
constexpr double PROGRESS = 0.65;                    // this fraction
constexpr double NEAR = 4.0;  // costs up to this multiple of the reachable one are near

inline bool is_near(const Options& opt, double cost) { return cost <= NEAR * opt.reachable_cost; }

// Freezes the joints at a limit that the step would push against it.
inline void freeze(Workspace& W) {
  const Chain& c = W.chain;
  for (int i = 0; i < W.n; ++i) {
    const double q = W[i].q, g = W[i].gradient;
    // Without branches, which nothing could predict.
    const bool pushed = ((g > 0.0) & (q <= c[i].lower)) | ((g < 0.0) & (q >= c[i].upper));
    W[i].free = pushed ? 0.0 : 1.0;
  }
}

// The size of delta in units of the joints.
inline double size_of_step(const Workspace& W) {
  double size = 0.0;
  for (int i = 0; i < W.n; ++i) size = std::max(size, std::abs(W[i].delta) / W.chain[i].unit);
  return size;
}

// Fills trial with q + delta, no longer than the longest step and inside the limits; a joint that
// would pass a limit takes the same angle a whole turn away if that is allowed. Returns the size
// of the step.
inline double try_step(Workspace& W) {
  const double size = size_of_step(W);
  const double scale = size > LONGEST_STEP ? LONGEST_STEP / size : 1.0;
  for (int i = 0; i < W.n; ++i) {
    const Joint& j = W.chain[i];
    const double lower = j.lower, upper = j.upper, turn = j.period;
    double q = W[i].q + scale * W[i].delta;
    if (q > upper)
      q = lower <= q - turn && q - turn <= upper ? q - turn : upper;
    else if (q < lower)
      q = lower <= q + turn && q + turn <= upper ? q + turn : lower;
    W[i].trial = q;
  }
  return scale * size;
}

// Minimises the error, or only its excess over the tolerances; see `descend`. No step leaves the
// tolerances once they are met.
inline Quality minimise(Problem& W, bool excess) {
  const Options& opt = *W.opt;
  double cost = measure_posture(W);
  W.evaluations += 1.0;
  Quality state = quality(opt, W.error, cost);
  if (excess) cost = half_square_of_excess(opt, W.error);
  double damping = FIRST_DAMPING, mark = cost;
  for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
    if (state == EXACT || (excess && state != FAILED)) break;
    derive(W);
    if (excess) keep_excess(W);
    const double floor = 1e-13 * fill_normal_equations(opt.weights, W);
    freeze(W);
    double gain = 0.0;
    Quality next = state;
    for (int retry = 0; retry < RETRIES; ++retry) {
      solve_damped(W, &JointState::damping_weight, damping * cost, floor);
      const double size = try_step(W);
      move(W, &JointState::trial);
      double trial_cost = measure(W, W.trial_error);
      W.evaluations += 1.0;
      next = quality(opt, W.trial_error, trial_cost);
      if (excess) trial_cost = half_square_of_excess(opt, W.trial_error);
      if (trial_cost < cost && next >= state) {
        gain = cost - trial_cost;
        break;
      }
      if (size < SHORTEST_STEP) break;
      damping *= TIGHTEN;
    }
    if (!(gain > 0.0)) break;
    cost -= gain;
    state = next;
    for (int i = 0; i < W.n; ++i) W[i].q = W[i].trial;
    W.error = W.trial_error;
    damping = std::max(damping * LOOSEN, SMALLEST_DAMPING);
    if (gain < FLAT * cost) break;
    const int patience = excess ? PATIENCE_BY_EXCESS : PATIENCE;
    if (state == FAILED && opt.exact_minimum == 0.0 && iteration % patience == patience - 1) {
      if (cost > PROGRESS * mark) break;
      mark = cost;
    }
  }
  W.cost = cost;
  if (excess) measure_posture(W);
  return state;
}

// Descends from q to the nearest minimum of the weighted error; if that is near the tolerances but
// not inside, descends into them. Leaves q, error and cost.
inline Quality descend(Problem& W) {
  const Quality state = minimise(W, false);
  const bool retries = state == FAILED && W.opt->exact_minimum == 0.0 && is_near(*W.opt, W.cost);
  return retries ? minimise(W, true) : state;
}

// Descends into the tolerances first, then to the minimum inside. It leads from the same start to
// another posture than `descend`, if that misses them.
inline Quality descend_by_excess(Problem& W) {
  const Quality state = minimise(W, true);
  return state == FAILED ? state : minimise(W, false);
}

constexpr int PROJECTIONS = 12, SHORTENINGS = 3;
constexpr double LONGEST_PROJECTION = 0.8;    // [rad, or units of the joint]: bending stays small
constexpr double SHORTEST_PROJECTION = 1e-3;  // shorter steps end the projection
constexpr double LOOSE = 1e-9;     // relative weight of the preferred posture beside the errors
constexpr double LIGHTEST = 1e-6;  // relative weight of joints of weight 0, which would drift

// The position q of a joint, moved by whole turns as near to another position as limits allow.
inline double nearest_turn(const Joint& j, double q, double other) {
  if (j.period == 0.0) return q;
  const double gap = clipped(other, j) - q;
  if (std::abs(gap) <= 0.5 * j.period) return q;
  double turned = q + j.period * std::floor(gap / j.period + 0.5);
  if (turned > j.upper)
    turned -= j.period;
  else if (turned < j.lower)
    turned += j.period;
  return j.lower <= turned && turned <= j.upper ? turned : q;
}

// The squared distance from the preferred posture.
inline double preference_distance(const Workspace& W) {
  double square = 0.0;
  for (int i = 0; i < W.n; ++i) {
    const double gap = W[i].q - W[i].preferred;
    square += W[i].pull * gap * gap;
  }
  return square;
}

// The first-order decrease of that squared distance by delta.
inline double first_order_gain(const Workspace& W) {
  double square = 0.0;
  for (int i = 0; i < W.n; ++i) square += W[i].pull * W[i].delta * W[i].delta;
  return square;
}

// Fills delta with the step towards the preferred posture that changes no error; returns its size.
inline double project_step(double largest_pull, Problem& W) {
  const Chain& c = W.chain;
  if (largest_pull == 0.0) return 0.0;
  const double pull = LOOSE * fill_normal_equations(W.opt->even, W) / largest_pull;
  for (int i = 0; i < W.n; ++i) {
    const bool independent = c.leader(i) == i;
    W[i].free = independent ? 1.0 : 0.0;
    W[i].pull = independent ? std::max(W[i].pull, LIGHTEST * largest_pull) : 0.0;
    W[i].gradient += pull * W[i].pull * (W[i].q - W[i].preferred);
  }
  for (bool is_blocked = true; is_blocked;) {
    solve_damped(W, &JointState::pull, pull, 0.0);
    is_blocked = false;
    for (int i = 0; i < W.n; ++i) {
      const double step = W[i].delta;
      const bool at_limit = step < 0.0 ? W[i].q <= c[i].lower : W[i].q >= c[i].upper;
      if (W[i].free != 0.0 && step != 0.0 && at_limit) {
        W[i].free = 0.0;
        is_blocked = true;
      }
    }
  }
  return size_of_step(W);
}

// Tries shorter and shorter steps from the saved posture until a descent from there ends no worse
// than `state`, and nearer than `before`; returns whether one does.
inline bool try_projection(double scale, double before, Quality& state, Problem& W) {
  for (int shortening = 0; shortening < SHORTENINGS; ++shortening) {
    for (int i = 0; i < W.n; ++i) W[i].q = clipped(W[i].saved + scale * W[i].step, W.chain[i]);
    const Quality next = descend(W);
    if (next >= state && preference_distance(W) < before) {
      state = next;
      return true;
    }
    scale *= 0.3;
  }
  return false;
}

// Moves q, a solution of quality `state`, to the preferred posture near it.
inline void project_to_preference(Quality state, Problem& W) {
  double largest_pull = 0.0;
  for (int i = 0; i < W.n; ++i) {
    W[i].q = nearest_turn(W.chain[i], W[i].q, W[i].preferred);
    largest_pull = std::max(largest_pull, W[i].pull);
  }
  for (int projection = 0; projection < PROJECTIONS; ++projection) {
    if (state != EXACT) measure_posture(W);  // the tip may be that of a rejected trial
    derive(W);
    const double size = project_step(largest_pull, W);
    const double before = preference_distance(W);
    if (size < SHORTEST_PROJECTION || first_order_gain(W) < W.opt->smallest_gain * before) return;
    for (int i = 0; i < W.n; ++i) {
      W[i].saved = W[i].q;
      W[i].step = W[i].delta;
    }
    if (!try_projection(std::min(1.0, LONGEST_PROJECTION / size), before, state, W)) {
      for (int i = 0; i < W.n; ++i) W[i].q = W[i].saved;
      descend(W);  // only its error is computed again
      return;
    }
  }
}

}  // namespace arm
