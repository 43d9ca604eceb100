// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Search: descents from the seed and from a fixed set of evenly spread starts. The same input
// gives the same output: the starts are a low-discrepancy sequence (powers of the generalised
// golden ratio, Roberts 2018) over the joint ranges, the best of a few at a time.
#pragma once

#include <chrono>

#include "descent.hpp"

namespace arm {

// The head of a result; its fields are those of _HEAD in kernels/layout.py.
struct Head {
  double solutions, starts, evaluations;  // how many: found, used
  double best_effort;                     // 1 if the first slot holds one, without a solution
  double singular;  // 1 if a solution is one of infinitely many (closed forms only)
};

// The numbers of a head, and a slot for each solution, the best one or the best effort first:
// joint positions (n), error (6), its weighted half square, weighted distance from the seed.
struct Result {
  static constexpr int HEAD = sizeof(Head) / sizeof(double);
  double* numbers;
  int slots, n;

  static constexpr int width(int n) { return n + 8; }
  static constexpr int size(int n, int slots) { return HEAD + slots * width(n); }
  Head& head() const { return *reinterpret_cast<Head*>(numbers); }
  int solutions() const { return static_cast<int>(head().solutions); }
  double* q(int slot) const { return numbers + size(n, slot); }
  SixVector& error(int slot) const { return *reinterpret_cast<SixVector*>(q(slot) + n); }
  double& cost(int slot) const { return q(slot)[n + 6]; }
  double& distance(int slot) const { return q(slot)[n + 7]; }
};

constexpr int REFUSED = -1;            // instead of a number of solutions: a bad target or seed
constexpr int MAX_STARTS = 10000;      // of a call
constexpr int TRIES = 4;               // points per start, of which the best is used
constexpr double FARTHEST_SEED = 1e9;  // [rad or m]
constexpr double WIDE = 4.0;    // ranges of prismatic joints longer than this many arms are wide
constexpr double NEARBY = 0.2;  // size of the error at the seed up to which a target is near [rad]
constexpr double LEAP = 0.1;    // longest motion of a joint that is no leap, and
constexpr double LEAP_BY_ERROR = 3.0;  // so much more per error
constexpr int NEIGHBOURS = 64;         // postures about the seed, in widening ranges
constexpr double FIRST_RADIUS = 0.1, WIDEN = 1.045;
constexpr double SAME = 1e-3;  // solutions nearer than this [rad, or units of the joint] are the
constexpr double SAME_PROJECTED = 0.03;  // same; along a null space

// Whether T is a finite rigid motion, its rotation orthonormal to 1e-6.
inline bool is_rigid(const Pose& T) {
  const auto [R, p] = T.motion();
  const Rotation C = transposed(R);
  const double products[] = {dot(C.x, C.x) - 1.0, dot(C.y, C.y) - 1.0, dot(C.z, C.z) - 1.0,
                             dot(C.x, C.y),       dot(C.x, C.z),       dot(C.y, C.z)};
  for (const double product : products)
    if (!(std::abs(product) <= 1e-6)) return false;
  double row = std::abs(T.last[3] - 1.0);
  for (int i = 0; i < 3; ++i) row += std::abs(T.last[i]);
  const double far = std::abs(p.x) + std::abs(p.y) + std::abs(p.z);
  return dot(R.x, cross(R.y, R.z)) > 0.0 && row <= 1e-9 && far < 1e100;
}

inline bool is_valid(const Pose& T, Row seed) {
  const auto is_fine = [](double q) { return std::abs(q) < FARTHEST_SEED; };
  return is_rigid(T) && std::all_of(seed.values, seed.values + seed.size, is_fine);
}

inline void start_at_seed(Problem& W) {
  for (int i = 0; i < W.n; ++i) W[i].q = clipped(W.seed[i], W.chain[i]);
}

inline double measure_seed(Problem& W) {
  start_at_seed(W);
  return measure_posture(W);
}

inline bool is_wide_slide(const Joint& j) {
  return j.prismatic != 0.0 && j.upper - j.lower > WIDE * j.unit;
}

// Moves the wide slides to where they bring the tip nearest to a far target: the pose is linear in
// them, so one step does; a descent takes steps of the arm's length.
inline void move_far_slides(Problem& W) {
  const Chain& c = W.chain;
  bool has_any = false;
  for (int i = 0; i < W.n; ++i) {
    const bool slides = is_wide_slide(c[i]) && c.leader(i) == i;
    W[i].free = slides ? 1.0 : 0.0;
    has_any = has_any || slides;
  }
  if (!has_any) return;
  measure_posture(W);
  derive(W);
  const double floor = 1e-13 * fill_normal_equations(W.opt->weights, W);
  solve_damped(W, &JointState::damping_weight, 0.0, floor);
  if (size_of_step(W) > 1.0)
    for (int i = 0; i < W.n; ++i) W[i].q = clipped(W[i].q + W[i].delta, c[i]);
}

inline double fraction_of(double x) { return x - std::floor(x); }

// Fills trial with a point of an even sequence over the joint ranges. A range of more than one
// turn counts as the turn about the seed; a wide range of a slide as one unit on either side.
inline void fill_spread(int index, Problem& W) {
  const Chain& c = W.chain;
  for (int i = 0; i < W.n; ++i) {
    double lower = c[i].lower, upper = c[i].upper;
    const double reach = c[i].prismatic != 0.0 ? c[i].unit : PI;
    if (upper - lower > 2.0 * reach && (c[i].prismatic == 0.0 || is_wide_slide(c[i]))) {
      lower = std::max(lower, std::min(W.seed[i] - reach, upper - 2.0 * reach));
      upper = lower + 2.0 * reach;
    }
    W[i].trial = lower + fraction_of(0.5 + index * c[i].spacing) * (upper - lower);
  }
}

// Fills q with a start: the seed inside the limits, then the best of a few points.
inline void fill_start(int index, Problem& W) {
  double best = INFINITE;
  if (index == 0) start_at_seed(W);
  for (int attempt = 0; index > 0 && attempt < TRIES; ++attempt) {
    fill_spread((index - 1) * TRIES + attempt + 1, W);
    move(W, &JointState::trial);
    const double cost = measure(W, W.trial_error);
    if (cost >= best) continue;
    best = cost;
    for (int i = 0; i < W.n; ++i) W[i].q = W[i].trial;
  }
  move_far_slides(W);
}

// Whether q differs from the solutions of a result, whole turns aside, in a joint by `same`.
inline bool is_new(const Workspace& W, Result out, double same) {
  for (int slot = 0; slot < out.solutions(); ++slot) {
    int alike = 0;
    for (; alike < W.n; ++alike) {
      const Joint& j = W.chain[alike];
      double gap = std::abs(W[alike].q - out.q(slot)[alike]);
      if (gap > 0.5 * j.period && j.period != 0.0)
        gap = std::abs(gap - j.period * rounded(gap / j.period));
      if (gap >= same * j.unit) break;
    }
    if (alike == W.n) return false;
  }
  return true;
}

// Writes a slot, with joints moved by whole turns towards the preferred posture.
inline void write_solution(const Problem& W, Result out, int slot) {
  double square = 0.0;
  for (int i = 0; i < W.n; ++i) {
    const double q = nearest_turn(W.chain[i], W[i].q, W[i].preferred);
    out.q(slot)[i] = q;
    square += W.opt->joint_weights()[i] * (q - W.seed[i]) * (q - W.seed[i]);
  }
  out.error(slot) = W.error;
  out.cost(slot) = W.cost;
  out.distance(slot) = std::sqrt(square);
}

// Writes the first solution.
inline int write_first(const Problem& W, Result out) {
  write_solution(W, out, 0);
  out.head().solutions = 1.0;
  return 1;
}

// The largest motion of a joint from the seed, in units of the joints.
inline double motion_from_seed(const Problem& W) {
  const Chain& c = W.chain;
  double largest = 0.0;
  for (int i = 0; i < W.n; ++i)
    if (c.leader(i) == i) largest = std::max(largest, std::abs(W[i].q - W.seed[i]) / c[i].unit);
  return largest;
}

// Moves the seed inside the limits; returns whether it is the solution.
inline bool accept_seed(Problem& W) {
  return W.opt->keep_seed != 0.0 && quality(*W.opt, W.error, measure_seed(W)) != FAILED;
}

// Descends from the seed in q. Near a singular posture that may fail, or lead far away, although a
// small motion reaches a target nearby. Then postures about the seed are tried, from near to far,
// until a descent ends no farther than the size of the error explains; the nearest counts.
inline Quality descend_from_seed(Problem& W) {
  Quality state = descend(W);
  double best = motion_from_seed(W);
  if (state != FAILED && best <= LEAP) return state;
  if (state == FAILED) best = INFINITE;
  for (int i = 0; i < W.n; ++i) W[i].step = W[i].q;
  measure_seed(W);
  const double size = std::sqrt(weighted_square(W.opt->even, W.error));
  const double enough = LEAP + LEAP_BY_ERROR * size;
  double radius = FIRST_RADIUS;
  for (int index = 1; size <= NEARBY && index <= NEIGHBOURS; ++index) {
    if (best <= std::max(enough, radius)) break;
    radius *= WIDEN;
    for (int i = 0; i < W.n; ++i) {
      const double side = 2.0 * fraction_of(0.5 + index * W.chain[i].spacing) - 1.0;
      W[i].q = clipped(W.seed[i] + side * radius * W.chain[i].unit, W.chain[i]);
    }
    const Quality next = descend(W);
    const double motion = motion_from_seed(W);
    if (next == FAILED || motion >= best) continue;
    state = next;
    best = motion;
    for (int i = 0; i < W.n; ++i) W[i].step = W[i].q;
  }
  for (int i = 0; i < W.n; ++i) W[i].q = W[i].step;
  measure_posture(W);
  return state;
}

// Seconds on a clock that is never set.
inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Descends from start number `head.starts`, which it has filled into q.
inline Quality descend_from_start(Result out, Problem& W) {
  const Head& head = out.head();
  const bool is_first = head.starts == 0.0, is_odd = static_cast<int>(head.starts) % 2 == 1;
  if (W.opt->exact_minimum == 0.0) {
    const bool near = head.best_effort != 0.0 && is_near(*W.opt, out.cost(0));
    if (head.solutions == 0.0 && near && is_odd) return descend_by_excess(W);
    if (is_first) return descend_from_seed(W);
  }
  return descend(W);
}

// Continues a search until all slots are filled, the starts are used, or its time is over. The
// result is zero before the first call; until a solution is found, its first slot holds the best
// effort. Returns the number of solutions, or REFUSED. Not inlined: the callers that rarely need
// it are faster without.
[[gnu::noinline]] inline int search(const Chain& c, const Options& opt, const Pose& T, Row seed,
                                    Result out) {
  if (!is_valid(T, seed)) return REFUSED;
  const bool is_limited = opt.time_limit < INFINITE;
  const double end = is_limited ? now() + opt.time_limit : INFINITE;
  Problem W(c, opt, T.motion(), seed);
  Head& head = out.head();
  if (head.starts == 0.0 && accept_seed(W)) head.starts = write_first(W, out);
  const double same = opt.smallest_gain == 0.0 ? SAME : SAME_PROJECTED;
  for (int k = 0; k < opt.starts && k < MAX_STARTS && head.solutions < out.slots; ++k) {
    if (k > 0 && is_limited && now() > end) break;
    fill_start(static_cast<int>(head.starts), W);
    W.evaluations = 0.0;
    const Quality state = descend_from_start(out, W);
    head.starts += 1.0;
    head.evaluations += W.evaluations;
    if (state == FAILED) {
      if (head.solutions == 0.0 && (head.best_effort == 0.0 || W.cost < out.cost(0))) {
        head.best_effort = 1.0;
        write_solution(W, out, 0);
      }
      continue;
    }
    if (opt.smallest_gain != 0.0) project_to_preference(state, W);
    if (is_new(W, out, same)) {
      write_solution(W, out, out.solutions());
      head.solutions += 1.0;
    }
  }
  return out.solutions();
}

}  // namespace arm
