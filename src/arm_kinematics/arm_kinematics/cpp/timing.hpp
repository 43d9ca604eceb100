// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The two passes of time scaling over the squared speeds x of a grid; they have their source in
// arm_common/time_scaling.py, which runs where nothing is compiled.
#pragma once

#include <algorithm>

#include "chain.hpp"

namespace arm {

// Lowers x to the largest values that can be reached from the first one, or from which the last
// one can be reached: those of a neighbour bound them by offset + gain x.
template <bool is_forward>
void reachability_pass(Rows offset, Rows gain, RowToFill x) {
  const bool agree = offset.count == gain.count && offset.size == gain.size;
  require(agree && x.size == offset.count + 1, "bounds for each interval between points");
  for (int k = 0; k < offset.count; ++k) {
    const int i = is_forward ? k : offset.count - 1 - k;
    const int known = is_forward ? i : i + 1, next = is_forward ? i + 1 : i;
    double least = INFINITE;
    for (int m = 0; m < offset.size; ++m)
      least = std::min(least, offset[i][m] + gain[i][m] * x[known]);
    x[next] = std::min(x[next], std::max(0.0, least));
  }
}

}  // namespace arm
