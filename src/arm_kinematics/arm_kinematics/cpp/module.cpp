// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The module arm_kinematics.kernels.compiled; compiled.pyi has its functions and their arguments.
#include "objects.hpp"
#include "timing.hpp"

namespace arm {
namespace {

// The functions below are for tests and proofs of the headers.

// Fills in the error of q against a target, and its derivative; returns its weighted half square.
double residual(const Chain& c, const Options& opt, const Pose& T, Row q, SixVector& error,
                RowsToFill derivative) {
  require(derivative.count == 6 && derivative.size == c.n, "a derivative has 6 rows");
  Problem W(c, opt, T.motion(), q);
  for (int i = 0; i < c.n; ++i) W[i].q = q[i];
  measure_posture(W);
  derive(W);
  error = W.error;
  write_columns(W, derivative.values);
  return W.cost;
}

int real_roots_of(Row coefficients, RowToFill out) {
  require(coefficients.size == MAX_DEGREE + 1 && out.size == 2 * MAX_DEGREE, "another degree");
  Polynomial polynomial{MAX_DEGREE, {}};
  std::copy(coefficients.values, coefficients.values + MAX_DEGREE + 1, polynomial.a);
  const RealRoots roots = real_roots(polynomial);
  std::copy(roots.x, roots.x + roots.count, out.values);
  return roots.count;
}

PyMethodDef functions[] = {
    {"fk", as_function(fk<false>), METH_FASTCALL, nullptr},
    {"fk_jacobian", as_function(fk<true>), METH_FASTCALL, nullptr},
    {"prepare_nearest", as_function(prepare<false>), METH_FASTCALL, nullptr},
    {"prepare_all", as_function(prepare<true>), METH_FASTCALL, nullptr},
    entry<search>("search"),
    entry<solve_all>("solve_all"),
    entry<solve_given>("solve_given"),
    entry<solve_many>("solve_many"),
    entry<fill_postures>("fill_postures"),
    entry<collect>("collect"),
    entry<trace>("trace"),
    entry<passes>("passes"),
    entry<fill_point>("fill_point"),
    entry<inverse_dynamics>("inverse_dynamics"),
    entry<reachability_pass<false>>("backward_pass"),
    entry<reachability_pass<true>>("forward_pass"),
    entry<residual>("residual"),
    entry<roots>("roots"),
    entry<real_roots_of>("real_roots"),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "compiled", nullptr, 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace arm

PyMODINIT_FUNC PyInit_compiled() {
  import_array();
  using namespace arm;
  Owned module(PyModule_Create(&definition));
  if (!module) return nullptr;
  const auto size = [](size_t bytes) { return static_cast<Py_ssize_t>(bytes); };
  const Owned sizes(Py_BuildValue("nnnn", size(sizeof(Joint)), size(sizeof(Options)),
                                  size(sizeof(Plan)), size(sizeof(Head) + 9 * sizeof(double))));
  const Owned result(PyType_FromSpec(&result_spec));
  if (!sizes || !result) return nullptr;
  result_type = reinterpret_cast<PyTypeObject*>(result.get());
  PyObject* m = module.get();
  const bool is_made = PyModule_AddObjectRef(m, "RECORD_SIZES", sizes.get()) == 0 &&
                       PyModule_AddStringConstant(m, "SOURCES", ARM_SOURCES) == 0 &&
                       PyModule_AddObjectRef(m, "Result", result.get()) == 0;
  return is_made ? module.release() : nullptr;
}
