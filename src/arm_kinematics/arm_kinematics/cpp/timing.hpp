// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The two passes of time scaling over the squared speeds x of a grid; they have their source in
// arm_common/time_scaling.py, which runs where nothing is compiled.
#pragma once

#include <algorithm>

#include "chain.hpp"

namespace arm {

// The least of the bounds offset + gain x.
inline double least_bound(Row offset, Row gain, double x) {
  double least = INFINITE;
  for (int k = 0; k < offset.size; ++k) least = std::min(least, offset[k] + gain[k] * x);
  return least;
}

inline void check_intervals(Rows offset, Rows gain, RowToFill x) {
  const bool agree = offset.count == gain.count && offset.size == gain.size;
  require(agree && x.size == offset.count + 1, "bounds for each interval between points");
}

// Lowers x to the largest values from which the last one can be reached.
inline void backward_pass(Rows offset, Rows gain, RowToFill x) {
  check_intervals(offset, gain, x);
  for (int i = offset.count - 1; i >= 0; --i)
    x[i] = std::min(x[i], least_bound(offset[i], gain[i], x[i + 1]));
}

// Lowers x to the largest values that can be reached from the first one.
inline void forward_pass(Rows offset, Rows gain, RowToFill x) {
  check_intervals(offset, gain, x);
  for (int i = 0; i < offset.count; ++i)
    x[i + 1] = std::min(x[i + 1], std::max(0.0, least_bound(offset[i], gain[i], x[i])));
}

}  // namespace arm
