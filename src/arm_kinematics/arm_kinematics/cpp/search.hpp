// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Search: descents from the seed and from a fixed set of evenly spread starts. The same input
// gives the same output: the starts are a low-discrepancy sequence (powers of the generalised
// golden ratio, Roberts 2018) over the joint ranges, the best of a few at a time.
#pragma once

#include <chrono>

#include "descent.hpp"

namespace arm {

// The head of a result; its fields are those of HEAD in kernels/layout.py.
struct Head {
  double solutions, starts, evaluations;  // how many: found, used
  double best_effort;                     // 1 if the first slot holds one, without a solution
  double singular;  // 1 if a solution is one of infinitely many (closed forms only)
};

// A head, and a table with a row for each solution, the best one or the best effort first: joint
// positions (n), error (6), its weighted half square, weighted distance from the seed.
struct Result {
  Head* head;
  double* table;
  int slots, n;

  double* q(int slot) const { return table + slot * width(); }
  Error& error(int slot) const { return *reinterpret_cast<Error*>(q(slot) + n); }
  double& cost(int slot) const { return q(slot)[n + 6]; }
  double& distance(int slot) const { return q(slot)[n + 7]; }
  int width() const { return n + 8; }
};

// The results of many targets, of one slot each.
struct Results {
  double* values;
  int count, n;
  Result operator[](int k) const {
    constexpr int of_head = sizeof(Head) / sizeof(double);
    double* head = values + k * (of_head + n + 8);
    return {reinterpret_cast<Head*>(head), head + of_head, 1, n};
  }
};

enum Refusal { BAD_TARGET = -1, BAD_SEED = -2 };

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

// Returns 0 for a valid target and seed, else a Refusal.
inline int check_request(const Pose& T, Row seed) {
  if (!is_rigid(T)) return BAD_TARGET;
  for (int i = 0; i < seed.size; ++i)
    if (!(std::abs(seed[i]) < FARTHEST_SEED)) return BAD_SEED;
  return 0;
}

// Fills the base as seen from the target: inverse(T) B0.
inline void set_target(const Motion& T, const Chain& c, Workspace& W) {
  const Motion& B = c.base().fixed;
  W.base = {transposed(T.rotation) * B.rotation,
            rotated_back(T.rotation, B.position - T.position)};
}

inline void start_at_seed(const Chain& c, const double* seed, Workspace& W) {
  for (int i = 0; i < W.n; ++i) W[i].q = clipped(seed[i], c[i]);
}

inline bool is_wide_slide(const Joint& j) {
  return j.prismatic != 0.0 && j.upper - j.lower > WIDE * j.unit;
}

// Moves the wide slides to where they bring the tip nearest to a far target: the pose is linear in
// them, so one step does; a descent takes steps of the arm's length.
inline void move_far_slides(const Chain& c, const Options& opt, Workspace& W) {
  bool has_any = false;
  for (int i = 0; i < W.n; ++i) {
    const bool slides = is_wide_slide(c[i]) && c.leader(i) == i;
    W[i].free = slides ? 1.0 : 0.0;
    has_any = has_any || slides;
  }
  if (!has_any) return;
  move(c, W, &JointState::q);
  measure(opt, W, W.error);
  derive(c, opt, W);
  const double floor = 1e-13 * fill_normal_equations(opt.weights, W);
  solve_damped(W, &JointState::damping_weight, 0.0, floor);
  if (size_of_step(c, W) > 1.0)
    for (int i = 0; i < W.n; ++i) W[i].q = clipped(W[i].q + W[i].delta, c[i]);
}

inline double fraction_of(double x) { return x - std::floor(x); }

// Fills trial with a point of an even sequence over the joint ranges. A range of more than one
// turn counts as the turn about the seed; a wide range of a slide as one unit on either side.
inline void fill_spread(const Chain& c, const double* seed, int index, Workspace& W) {
  for (int i = 0; i < W.n; ++i) {
    double lower = c[i].lower, upper = c[i].upper;
    const double reach = c[i].prismatic != 0.0 ? c[i].unit : PI;
    if (upper - lower > 2.0 * reach && (c[i].prismatic == 0.0 || is_wide_slide(c[i]))) {
      lower = std::max(lower, std::min(seed[i] - reach, upper - 2.0 * reach));
      upper = lower + 2.0 * reach;
    }
    W[i].trial = lower + fraction_of(0.5 + index * c[i].spacing) * (upper - lower);
  }
}

// Fills q with a start: the seed inside the limits, then the best of a few points.
inline void fill_start(const Chain& c, const Options& opt, const double* seed, int index,
                       Workspace& W) {
  double best = INFINITE;
  if (index == 0) start_at_seed(c, seed, W);
  for (int attempt = 0; index > 0 && attempt < TRIES; ++attempt) {
    fill_spread(c, seed, (index - 1) * TRIES + attempt + 1, W);
    move(c, W, &JointState::trial);
    const double cost = measure(opt, W, W.trial_error);
    if (cost >= best) continue;
    best = cost;
    for (int i = 0; i < W.n; ++i) W[i].q = W[i].trial;
  }
  move_far_slides(c, opt, W);
}

// Whether q differs from the first solutions of a result, whole turns aside, in a joint by `same`.
inline bool is_new(const Chain& c, const Workspace& W, const Result& out, int solutions,
                   double same) {
  for (int slot = 0; slot < solutions; ++slot) {
    int alike = 0;
    for (; alike < W.n; ++alike) {
      const Joint& j = c[alike];
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
inline void write_solution(const Chain& c, const Options& opt, const double* seed,
                           const Workspace& W, const Result& out, int slot) {
  double square = 0.0;
  for (int i = 0; i < W.n; ++i) {
    const double q = nearest_turn(c[i], W[i].q, W[i].preferred);
    out.q(slot)[i] = q;
    square += opt.joint_weights()[i] * (q - seed[i]) * (q - seed[i]);
  }
  out.error(slot) = W.error;
  out.cost(slot) = W.cost;
  out.distance(slot) = std::sqrt(square);
}

// The largest motion of a joint from the seed, in units of the joints.
inline double motion_from(const Chain& c, const double* seed, const Workspace& W) {
  double largest = 0.0;
  for (int i = 0; i < W.n; ++i)
    if (c.leader(i) == i) largest = std::max(largest, std::abs(W[i].q - seed[i]) / c[i].unit);
  return largest;
}

// Moves the seed inside the limits; returns whether it is the solution.
inline bool accept_seed(const Chain& c, const Options& opt, const double* seed, Workspace& W) {
  if (opt.keep_seed == 0.0) return false;
  set_preference(c, opt, seed, W);
  start_at_seed(c, seed, W);
  move(c, W, &JointState::q);
  W.cost = measure(opt, W, W.error);
  return quality(opt, W.error, W.cost) != FAILED;
}

// Tries descents from postures about the seed, from near to far, until one ends no farther than
// the size of the error explains; keeps the nearest solution in step. `best` is the motion to it.
inline Quality descend_about_seed(const Chain& c, const Options& opt, const double* seed,
                                  Quality state, double best, Workspace& W) {
  start_at_seed(c, seed, W);
  move(c, W, &JointState::q);
  measure(opt, W, W.error);
  const double size = std::sqrt(weighted_square(opt.even, W.error));
  const double enough = LEAP + LEAP_BY_ERROR * size;
  double radius = FIRST_RADIUS;
  for (int index = 1; size <= NEARBY && index <= NEIGHBOURS; ++index) {
    if (best <= std::max(enough, radius)) break;
    radius *= WIDEN;
    for (int i = 0; i < W.n; ++i) {
      const double side = 2.0 * fraction_of(0.5 + index * c[i].spacing) - 1.0;
      W[i].q = clipped(seed[i] + side * radius * c[i].unit, c[i]);
    }
    const Quality next = descend(c, opt, W);
    const double motion = motion_from(c, seed, W);
    if (next == FAILED || motion >= best) continue;
    state = next;
    best = motion;
    for (int i = 0; i < W.n; ++i) W[i].step = W[i].q;
  }
  return state;
}

// Descends from the seed in q. Near a singular posture that may fail, or lead far away, although a
// small motion reaches a target nearby. Then postures about the seed are tried, too.
inline Quality descend_from_seed(const Chain& c, const Options& opt, const double* seed,
                                 Workspace& W) {
  Quality state = descend(c, opt, W);
  const double motion = motion_from(c, seed, W);
  if (state != FAILED && motion <= LEAP) return state;
  for (int i = 0; i < W.n; ++i) W[i].step = W[i].q;
  state = descend_about_seed(c, opt, seed, state, state == FAILED ? INFINITE : motion, W);
  for (int i = 0; i < W.n; ++i) W[i].q = W[i].step;
  move(c, W, &JointState::q);
  W.cost = measure(opt, W, W.error);
  return state;
}

class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {
    if (seconds < INFINITE) start_ = Clock::now();
  }
  bool has_passed() const {
    if (!(seconds_ < INFINITE)) return false;
    return std::chrono::duration<double>(Clock::now() - start_).count() > seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point start_;
};

// Descends from start number `head.starts`, which it has filled into q.
inline Quality descend_from_start(const Chain& c, const Options& opt, const double* seed,
                                  const Result& out, Workspace& W) {
  const Head& head = *out.head;
  const bool is_first = head.starts == 0.0, is_odd = static_cast<int>(head.starts) % 2 == 1;
  if (opt.exact_minimum == 0.0) {
    const bool near = head.best_effort != 0.0 && is_near(opt, out.cost(0));
    if (head.solutions == 0.0 && near && is_odd) return descend_by_excess(c, opt, W);
    if (is_first) return descend_from_seed(c, opt, seed, W);
  }
  return descend(c, opt, W);
}

// Continues a search until all slots are filled, the starts are used, or its time is over. The
// result is zero before the first call; until a solution is found, its first slot holds the best
// effort. Returns the number of solutions, or a Refusal.
inline int search(const Chain& c, const Options& opt, const Pose& T, Row seed, const Result& out) {
  if (const int refusal = check_request(T, seed)) return refusal;
  const TimeLimit limit(opt.time_limit);
  Workspace W(c.n);
  set_target(T.motion(), c, W);
  set_preference(c, opt, seed, W);
  Head& head = *out.head;
  if (head.starts == 0.0 && accept_seed(c, opt, seed, W)) {
    write_solution(c, opt, seed, W, out, 0);
    head.solutions = head.starts = 1.0;
  }
  const double same = opt.smallest_gain == 0.0 ? SAME : SAME_PROJECTED;
  for (int k = 0; k < opt.starts && k < MAX_STARTS && head.solutions < out.slots; ++k) {
    if (k > 0 && limit.has_passed()) break;
    fill_start(c, opt, seed, static_cast<int>(head.starts), W);
    W.evaluations = 0.0;
    const Quality state = descend_from_start(c, opt, seed, out, W);
    head.starts += 1.0;
    head.evaluations += W.evaluations;
    const int solutions = static_cast<int>(head.solutions);
    if (state == FAILED) {
      if (solutions == 0 && (head.best_effort == 0.0 || W.cost < out.cost(0))) {
        head.best_effort = 1.0;
        write_solution(c, opt, seed, W, out, 0);
      }
      continue;
    }
    if (opt.smallest_gain != 0.0) project_to_preference(c, opt, state, W);
    if (is_new(c, W, out, solutions, same)) {
      write_solution(c, opt, seed, W, out, solutions);
      head.solutions += 1.0;
    }
  }
  return static_cast<int>(head.solutions);
}

// Calls `search` once for each target.
inline void search_many(const Chain& c, const Options& opt, Poses Ts, Rows seeds,
                        const Results& out) {
  require(Ts.size == out.count && seeds.count == out.count, "a result for each target and seed");
  for (int k = 0; k < out.count; ++k) search(c, opt, Ts[k], seeds[k], out[k]);
}

}  // namespace arm
