// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The functions that are called most, which take and make Python's objects themselves: forward
// kinematics, and a prepared request for inverse kinematics with its result. What they cannot use,
// such as a text or a list of the wrong length, gives None; Python's own checks say why.
#pragma once

#include "arguments.hpp"
// after Python.h
#include <structmember.h>

#include <algorithm>
#include <memory>

namespace arm {

struct Release {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;  // a reference that ends with the scope

inline PyArrayObject* numpy(PyObject* array) { return reinterpret_cast<PyArrayObject*>(array); }
inline PyArrayObject* numpy(const Owned& array) { return numpy(array.get()); }

// A new reference to numbers as a C-contiguous float64 array, which may be the object itself;
// nullptr without an error if they are none.
inline PyObject* as_array(PyObject* object) {
  if (PyArray_CheckExact(object)) {
    PyArrayObject* a = numpy(object);
    if (PyArray_TYPE(a) == NPY_DOUBLE && PyArray_CHKFLAGS(a, NPY_ARRAY_CARRAY_RO) &&
        PyArray_ISNOTSWAPPED(a)) {
      Py_INCREF(object);
      return object;
    }
  }
  PyObject* array = PyArray_FROMANY(object, NPY_DOUBLE, 0, 0, NPY_ARRAY_CARRAY_RO);
  if (array == nullptr && (PyErr_ExceptionMatches(PyExc_TypeError) != 0 ||
                           PyErr_ExceptionMatches(PyExc_ValueError) != 0))
    PyErr_Clear();
  return array;
}

inline PyObject* none_unless_error() {
  return PyErr_Occurred() != nullptr ? nullptr : Py_NewRef(Py_None);
}

inline bool has_shape(PyArrayObject* a, int rows, int columns) {
  const int dimensions = rows > 0 ? 2 : 1;
  if (PyArray_NDIM(a) != dimensions || dimension(a, dimensions - 1) != columns) return false;
  return rows == 0 || dimension(a, 0) == rows;
}

inline PyObject* empty_matrix(npy_intp rows, npy_intp columns) {
  const npy_intp shape[] = {rows, columns};
  return PyArray_SimpleNew(2, shape, NPY_DOUBLE);
}

// fk(chain, q): the pose of the tip (4, 4) in the base frame; fk_jacobian(chain, q): that and the
// Jacobian (6, n), linear rows first. None if q is no posture.
template <bool with_jacobian>
PyObject* fk(PyObject*, PyObject* const* objects, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    Arguments in(objects, count, 2);
    const Chain c = Taken<const Chain&>::from(in);
    const Owned q(as_array(in.object()));
    if (!q || !has_shape(numpy(q), 0, c.n)) return none_unless_error();
    Workspace W(c);
    if (!place(data<double>(numpy(q)), W)) return Py_NewRef(Py_None);
    Owned T(empty_matrix(4, 4));
    if (!T) return nullptr;
    *data<Pose>(numpy(T)) = Pose::of(W.tip);
    if constexpr (!with_jacobian) return T.release();
    Owned J(empty_matrix(6, c.n));
    if (!J) return nullptr;
    fill_jacobian(W);
    write_columns(W, data<double>(numpy(J)));
    return Py_BuildValue("NN", T.release(), J.release());
  });
}

// The base of IkResult. The numbers are those of result_dtype in kernels/layout.py, for n joints:
// an array of records takes several times as long to make.
struct ResultObject {
  PyObject_HEAD
  PyObject *status, *numbers, *reason, *solutions;
  int n;
};

inline PyObject* make_result(PyTypeObject* type, PyObject* status, PyObject* numbers, int n,
                             PyObject* reason) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  PyArray_CLEARFLAGS(numpy(numbers), NPY_ARRAY_WRITEABLE);
  auto* result = reinterpret_cast<ResultObject*>(object);
  result->status = Py_NewRef(status);
  result->numbers = Py_NewRef(numbers);
  result->reason = Py_NewRef(reason);
  result->solutions = Py_NewRef(Py_None);
  result->n = n;
  return object;
}

// Result(status, numbers, n, reason).
inline PyObject* new_result(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *status = nullptr, *numbers = nullptr, *reason = nullptr;
  int n = 0;
  if (PyArg_ParseTuple(arguments, "OO!iO", &status, &PyArray_Type, &numbers, &n, &reason) == 0)
    return nullptr;
  return guarded([&] {
    PyArrayObject* a = numpy(numbers);
    require(PyArray_NDIM(a) == 1 && PyArray_TYPE(a) == NPY_DOUBLE &&
                PyArray_CHKFLAGS(a, NPY_ARRAY_CARRAY_RO) && n >= 1 && n <= MAX_JOINTS &&
                PyArray_SIZE(a) >= Result::size(n, 1),
            "expected the numbers of a result");
    return make_result(type, status, numbers, n, reason);
  });
}

inline void free_result(PyObject* object) {
  auto* self = reinterpret_cast<ResultObject*>(object);
  PyTypeObject* type = Py_TYPE(object);
  for (PyObject* field : {self->status, self->numbers, self->reason, self->solutions})
    Py_XDECREF(field);
  type->tp_free(object);
  Py_DECREF(type);
}

// The joint positions of the used slots (k, n), or of the first one (n), as a read-only view.
template <bool all>
PyObject* positions_of(PyObject* object, void*) {
  auto* self = reinterpret_cast<ResultObject*>(object);
  PyArrayObject* numbers = numpy(self->numbers);
  const auto* head = data<Head>(numbers);
  const npy_intp width = Result::width(self->n);
  const npy_intp slots = (PyArray_SIZE(numbers) - Result::HEAD) / width;
  const double solutions = head->solutions >= 1.0 ? head->solutions : 1.0;
  const auto used = static_cast<npy_intp>(std::min(solutions, 1.0 * slots));
  const npy_intp shape[] = {used, self->n}, strides[] = {bytes(width), bytes(1)};
  const int skipped = all ? 0 : 1;
  Owned q(PyArray_New(&PyArray_Type, 2 - skipped, shape + skipped, NPY_DOUBLE, strides + skipped,
                      data<double>(numbers) + Result::HEAD, 0, NPY_ARRAY_ALIGNED, nullptr));
  if (!q || PyArray_SetBaseObject(numpy(q), Py_NewRef(self->numbers)) != 0) return nullptr;
  return q.release();
}

inline PyMemberDef result_members[] = {
    {"status", T_OBJECT_EX, offsetof(ResultObject, status), 0, "Outcome, an IkStatus."},
    {"_numbers", T_OBJECT_EX, offsetof(ResultObject, numbers), READONLY, nullptr},
    {"_n", T_INT, offsetof(ResultObject, n), READONLY, nullptr},
    {"_reason", T_OBJECT_EX, offsetof(ResultObject, reason), READONLY, nullptr},
    {"_solutions", T_OBJECT_EX, offsetof(ResultObject, solutions), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
inline PyGetSetDef result_getters[] = {
    {"q", positions_of<false>, nullptr,
     "Joint positions (n,) of the first solution or of the best effort [rad or m].", nullptr},
    {"every_q", positions_of<true>, nullptr,
     "Joint positions (k, n) of all solutions, the preferred one first, or of the best effort.\n\n"
     "Cheaper than ``solutions`` if only the positions are needed.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
inline PyType_Slot result_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(new_result)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_result)},
    {Py_tp_members, result_members},
    {Py_tp_getset, result_getters},
    {0, nullptr},
};
inline PyType_Spec result_spec = {"arm_kinematics.kernels.compiled.Result", sizeof(ResultObject),
                                  0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, result_slots};

inline PyTypeObject* result_type = nullptr;  // once the module is initialised

// The parts of a prepared request, in the order of the arguments of `prepare`. The options are
// those of the descent and of branches; BRANCHES is not used without a plan.
enum Part { CHAIN, DESCENT, BRANCHES, PLAN, MIDDLE, KIND, SUCCESS, PARTS };

inline void check_parts(PyObject* const* parts, bool all) {
  Arguments in(parts, PARTS, PARTS);
  Taken<const Chain&>::from(in);
  Taken<const Options&>::from(in);
  Taken<const Options&>::from(in);
  require(Taken<const Plan*>::from(in) != nullptr || !all, "all solutions need a plan");
  Taken<Row>::from(in);
  auto* kind = reinterpret_cast<PyTypeObject*>(parts[KIND]);
  require(PyType_Check(parts[KIND]) && PyType_IsSubtype(kind, result_type) != 0 &&
              kind->tp_basicsize == result_type->tp_basicsize,
          "expected a kind of Result");
}

// The numbers of the first slots of a result, as an object.
inline PyObject* to_python(PyObject* const* parts, Result out, int slots) {
  const npy_intp shape[] = {Result::size(out.n, slots)};
  const Owned numbers(PyArray_SimpleNew(1, shape, NPY_DOUBLE));
  if (!numbers) return nullptr;
  std::copy(out.numbers, out.numbers + shape[0], data<double>(numpy(numbers)));
  return make_result(reinterpret_cast<PyTypeObject*>(parts[KIND]), parts[SUCCESS], numbers.get(),
                     out.n, Py_None);
}

template <class T>
const T& record(PyObject* array) {
  return *data<T>(numpy(array));
}

// What a prepared request returns for T and a seed or None: the solution nearest to the seed, or
// all; None without a solution, and for arguments that are no pose and posture.
template <bool all>
PyObject* answer(PyObject* self, PyObject* const* objects, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) throw WrongType{};
    PyObject* const* parts = &PyTuple_GET_ITEM(self, 0);
    const Chain c{dimension(numpy(parts[CHAIN]), 0) - 1, &record<Joint>(parts[CHAIN])};
    const Owned T(as_array(objects[0]));
    if (!T || !has_shape(numpy(T), 4, 4)) return none_unless_error();
    const Owned seed(as_array(objects[1] == Py_None ? parts[MIDDLE] : objects[1]));
    if (!seed || !has_shape(numpy(seed), 0, c.n)) return none_unless_error();
    const auto &options = record<Options>(parts[DESCENT]),
               &exact = record<Options>(parts[BRANCHES]);
    const Pose& pose = record<Pose>(T.get());
    const Row start = {data<double>(numpy(seed)), c.n};
    const Plan* plan = parts[PLAN] == Py_None ? nullptr : &record<Plan>(parts[PLAN]);
    const int slots = plan == nullptr ? 1 : MAX_BRANCHES;
    ResultNumbers numbers(Result::size(c.n, slots));
    const Result out = {&numbers[0], slots, c.n};
    const int solutions = unlocked([&] {
      if constexpr (all) return solve_all(c, exact, *plan, pose, start, out);
      return solve_nearest(c, options, exact, plan, pose, start, out);
    });
    return solutions > 0 ? to_python(parts, out, solutions) : Py_NewRef(Py_None);
  });
}

template <bool all>
PyMethodDef prepared = {"prepared", as_function(answer<all>), METH_FASTCALL, nullptr};

// prepare_nearest and prepare_all(chain, options, exact, plan or None, middle, IkResult, status of
// success): a function of T and a seed. It keeps copies of the arrays.
template <bool all>
PyObject* prepare(PyObject*, PyObject* const* objects, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != PARTS) throw WrongType{};
    const Owned parts(PyTuple_New(PARTS));
    for (int k = 0; k < PARTS && parts; ++k) {
      const bool is_copied = PyArray_Check(objects[k]);
      PyObject* part =
          is_copied ? PyArray_NewCopy(numpy(objects[k]), NPY_CORDER) : Py_NewRef(objects[k]);
      if (part == nullptr) return nullptr;
      PyTuple_SET_ITEM(parts.get(), k, part);
    }
    if (!parts) return nullptr;
    check_parts(&PyTuple_GET_ITEM(parts.get(), 0), all);
    return PyCFunction_New(&prepared<all>, parts.get());
  });
}

}  // namespace arm
