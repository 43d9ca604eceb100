// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The module arm_kinematics.kernels.compiled; compiled.pyi has its functions and their arguments.
#include "objects.hpp"

namespace arm {
namespace {

// The two passes of time scaling; arm_common/time_scaling.py has their source, and runs where
// nothing is compiled. Lowers the squared speeds x of a grid to the largest values that can be
// reached from the first one, or from which the last one can be reached: those of a neighbour
// bound them by offset + gain x.
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
