// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The module header_functions: functions of the headers that the product's module does not have.
// src/arm_testing/arm_testing/arms/header_functions.py compiles it.
#include "arguments.hpp"

namespace arm {
namespace {

// Fills in the error of q against a target, and its derivative.
void residual(const Chain& c, const Options& opt, const Pose& T, Row q, RowToFill error,
              RowsToFill derivative) {
  require(error.size == 6, "an error of 6 numbers");
  require(derivative.count == 6 && derivative.size == c.n, "a derivative has 6 rows");
  Problem W(c, opt, T.motion(), q);
  for (int i = 0; i < c.n; ++i) W[i].q = q[i];
  measure_posture(W);
  derive(W);
  const auto [p, o] = W.error;
  const double errors[] = {p.x, p.y, p.z, o.x, o.y, o.z};
  std::copy(errors, errors + 6, error.values);
  write_columns(W, derivative.values);
}

// Fills in the number of roots of (a, b) . phi(q) = c, -1 if every q is one, and the roots.
void joint_roots(int slides, double a, double b, double c, double size, RowToFill out) {
  require(out.size == 3, "a number and two roots");
  const Roots x = roots(slides != 0, a, b, c, size);
  const double values[] = {x.is_free ? -1.0 : x.count, x.at[0].q, x.at[1].q};
  std::copy(values, values + 3, out.values);
}

int quartic_roots(Row coefficients, RowToFill out) {
  require(coefficients.size == MAX_DEGREE + 1 && out.size == 2 * MAX_DEGREE, "another degree");
  Polynomial polynomial{MAX_DEGREE, {}};
  std::copy(coefficients.values, coefficients.values + MAX_DEGREE + 1, polynomial.a);
  const RealRoots roots = real_roots(polynomial);
  std::copy(roots.x, roots.x + roots.count, out.values);
  return roots.count;
}

PyMethodDef functions[] = {
    entry<residual>("residual"),
    entry<joint_roots>("joint_roots"),
    entry<quartic_roots>("quartic_roots"),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "header_functions",
                          nullptr,
                          0,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace arm

PyMODINIT_FUNC PyInit_header_functions() {
  import_array();
  return PyModule_Create(&arm::definition);
}
