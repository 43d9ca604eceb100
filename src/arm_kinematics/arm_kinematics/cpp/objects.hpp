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

namespace arm {

// A reference that ends with the scope.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const { return object_; }
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object_); }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  PyObject* object_;
};

// A new reference to numbers as a C-contiguous float64 array, which may be the object itself;
// nullptr without an error if they are none.
inline PyObject* as_array(PyObject* object) {
  if (PyArray_CheckExact(object)) {
    auto* a = reinterpret_cast<PyArrayObject*>(object);
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

inline PyObject* none() { Py_RETURN_NONE; }

inline PyObject* none_unless_error() { return PyErr_Occurred() != nullptr ? nullptr : none(); }

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
    if (!q || !has_shape(q.array(), 0, c.n)) return none_unless_error();
    Workspace W(c);
    if (!place(data<double>(q.array()), W)) return none();
    Owned T(empty_matrix(4, 4));
    if (!T) return nullptr;
    *data<Pose>(T.array()) = Pose::of(W.tip);
    if constexpr (!with_jacobian) return T.release();
    Owned J(empty_matrix(6, c.n));
    if (!J) return nullptr;
    fill_jacobian(W);
    write_columns(W, data<double>(J.array()));
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

inline void set(PyObject*& field, PyObject* value) {
  Py_XINCREF(value);
  Py_XSETREF(field, value);
}

inline void fill_result(ResultObject* self, PyObject* status, PyObject* numbers, int n,
                        PyObject* reason) {
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(numbers), NPY_ARRAY_WRITEABLE);
  set(self->status, status);
  set(self->numbers, numbers);
  set(self->reason, reason);
  set(self->solutions, Py_None);
  self->n = n;
}

// Result(status, numbers, n, reason).
inline int init_result(PyObject* self, PyObject* arguments, PyObject*) {
  PyObject *status = nullptr, *numbers = nullptr, *reason = nullptr;
  int n = 0;
  if (PyArg_ParseTuple(arguments, "OO!iO", &status, &PyArray_Type, &numbers, &n, &reason) == 0)
    return -1;
  auto* a = reinterpret_cast<PyArrayObject*>(numbers);
  const bool fits = PyArray_NDIM(a) == 1 && PyArray_TYPE(a) == NPY_DOUBLE &&
                    PyArray_CHKFLAGS(a, NPY_ARRAY_CARRAY_RO) && n >= 1 && n <= MAX_JOINTS &&
                    PyArray_SIZE(a) >= Result::size(n, 1);
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "expected the numbers of a result");
    return -1;
  }
  fill_result(reinterpret_cast<ResultObject*>(self), status, numbers, n, reason);
  return 0;
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
inline PyObject* positions_of(ResultObject* self, bool all) {
  auto* numbers = reinterpret_cast<PyArrayObject*>(self->numbers);
  if (numbers == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "a result without numbers");
    return nullptr;
  }
  const auto* head = data<Head>(numbers);
  const npy_intp width = Result::width(self->n);
  const npy_intp slots = (PyArray_SIZE(numbers) - Result::HEAD) / width;
  const double solutions = head->solutions >= 1.0 ? head->solutions : 1.0;
  const auto used = static_cast<npy_intp>(std::min(solutions, 1.0 * slots));
  const npy_intp shape[] = {used, self->n}, strides[] = {bytes(width), bytes(1)};
  const int skipped = all ? 0 : 1;
  PyObject* q =
      PyArray_New(&PyArray_Type, 2 - skipped, shape + skipped, NPY_DOUBLE, strides + skipped,
                  data<double>(numbers) + Result::HEAD, 0, NPY_ARRAY_ALIGNED, nullptr);
  if (q == nullptr) return nullptr;
  Py_INCREF(self->numbers);
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(q), self->numbers) == 0) return q;
  Py_DECREF(q);
  return nullptr;
}

inline PyObject* q_of(PyObject* object, void*) {
  return positions_of(reinterpret_cast<ResultObject*>(object), false);
}

inline PyObject* every_q_of(PyObject* object, void*) {
  return positions_of(reinterpret_cast<ResultObject*>(object), true);
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
    {"q", q_of, nullptr,
     "Joint positions (n,) of the first solution or of the best effort [rad or m].", nullptr},
    {"every_q", every_q_of, nullptr,
     "Joint positions (k, n) of all solutions, the preferred one first, or of the best effort.\n\n"
     "Cheaper than ``solutions`` if only the positions are needed.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
inline PyType_Slot result_slots[] = {
    {Py_tp_init, reinterpret_cast<void*>(init_result)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_result)},
    {Py_tp_members, result_members},
    {Py_tp_getset, result_getters},
    {0, nullptr},
};
inline PyType_Spec result_spec = {"arm_kinematics.kernels.compiled.Result", sizeof(ResultObject),
                                  0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, result_slots};

inline PyTypeObject* result_type = nullptr;  // once the module is initialised

// Request(chain, options, exact, plan or None, middle, IkResult, status of success): a prepared
// request, which keeps copies of the arrays. Without a plan it searches, and `exact` is not used.
// Options of the descent and of branches; BRANCHES is not used by a search.
enum Part { CHAIN, DESCENT, BRANCHES, MIDDLE, PLAN, KIND, SUCCESS, PARTS };

struct RequestObject {
  PyObject_HEAD
  PyObject* parts[PARTS];  // the chain is there once all are checked
};

inline PyObject* check_parts(PyObject* const* parts) {
  return guarded([&]() -> PyObject* {
    Arguments in(parts, 5, 5);
    Taken<const Chain&>::from(in);
    Taken<const Options&>::from(in);
    Taken<const Options&>::from(in);
    Taken<Row>::from(in);
    if (parts[PLAN] != Py_None) Taken<const Plan&>::from(in);
    auto* kind = reinterpret_cast<PyTypeObject*>(parts[KIND]);
    require(PyType_IsSubtype(kind, result_type) != 0 &&
                kind->tp_basicsize == result_type->tp_basicsize,
            "expected a kind of Result");
    return none();
  });
}

// A new reference to a copy of an array, or to another object.
inline PyObject* copy_of(PyObject* object) {
  if (PyArray_Check(object))
    return PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(object), NPY_CORDER);
  Py_INCREF(object);
  return object;
}

inline int init_request(PyObject* object, PyObject* arguments, PyObject*) {
  auto* self = reinterpret_cast<RequestObject*>(object);
  PyObject* given[PARTS];
  if (PyArg_ParseTuple(arguments, "OOOOOO!O", &given[CHAIN], &given[DESCENT], &given[BRANCHES],
                       &given[PLAN], &given[MIDDLE], &PyType_Type, &given[KIND],
                       &given[SUCCESS]) == 0)
    return -1;
  if (self->parts[CHAIN] != nullptr) {
    PyErr_SetString(PyExc_TypeError, "a request is made once");
    return -1;
  }
  bool is_valid = true;
  for (int k = 0; k < PARTS && is_valid; ++k) {
    Py_XSETREF(self->parts[k], copy_of(given[k]));
    is_valid = self->parts[k] != nullptr;
  }
  if (is_valid && Owned(check_parts(self->parts))) return 0;
  Py_CLEAR(self->parts[CHAIN]);
  return -1;
}

inline void free_request(PyObject* object) {
  auto* self = reinterpret_cast<RequestObject*>(object);
  PyTypeObject* type = Py_TYPE(object);
  for (PyObject* part : self->parts) Py_XDECREF(part);
  type->tp_free(object);
  Py_DECREF(type);
}

// The result of the first slots of a table.
inline PyObject* make_result(RequestObject* self, Result out, int slots) {
  const npy_intp shape[] = {Result::size(out.n, slots)};
  const Owned numbers(PyArray_SimpleNew(1, shape, NPY_DOUBLE));
  if (!numbers) return nullptr;
  std::copy(out.numbers, out.numbers + shape[0], data<double>(numbers.array()));
  auto* type = reinterpret_cast<PyTypeObject*>(self->parts[KIND]);
  PyObject* result = type->tp_alloc(type, 0);
  if (result != nullptr)
    fill_result(reinterpret_cast<ResultObject*>(result), self->parts[SUCCESS],
                reinterpret_cast<PyObject*>(numbers.array()), out.n, Py_None);
  return result;
}

template <class T>
const T& record(PyObject* array) {
  return *static_cast<const T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array)));
}

// nearest(T, seed or None) and all(T, seed or None): the result; None without a solution, and for
// arguments that are no pose and posture.
inline PyObject* answer(PyObject* object, PyObject* const* objects, Py_ssize_t count, bool all) {
  return guarded([&]() -> PyObject* {
    auto* self = reinterpret_cast<RequestObject*>(object);
    if (count != 2 || self->parts[CHAIN] == nullptr) throw WrongType{};
    const int rows = dimension(reinterpret_cast<PyArrayObject*>(self->parts[CHAIN]), 0);
    const Chain c{rows - 1, &record<Joint>(self->parts[CHAIN])};
    const Owned T(as_array(objects[0]));
    if (!T || !has_shape(T.array(), 4, 4)) return none_unless_error();
    const Owned seed(as_array(objects[1] == Py_None ? self->parts[MIDDLE] : objects[1]));
    if (!seed || !has_shape(seed.array(), 0, c.n)) return none_unless_error();
    const auto &options = record<Options>(self->parts[DESCENT]),
               &exact = record<Options>(self->parts[BRANCHES]);
    const Pose& pose = *data<Pose>(T.array());
    const Row start = {data<double>(seed.array()), c.n};
    PyObject* form = self->parts[PLAN];
    const Plan* plan = form == Py_None ? nullptr : &record<Plan>(form);
    const int slots = plan == nullptr ? 1 : MAX_BRANCHES;
    ResultNumbers numbers(Result::size(c.n, slots));
    const Result out = {&numbers[0], slots, c.n};
    const int solutions = unlocked([&] {
      return all && plan != nullptr ? solve_all(c, exact, *plan, pose, start, out)
                                    : solve_nearest(c, options, exact, plan, pose, start, out);
    });
    return solutions > 0 ? make_result(self, out, solutions) : none();
  });
}

inline PyObject* nearest(PyObject* self, PyObject* const* objects, Py_ssize_t count) {
  return answer(self, objects, count, false);
}

inline PyObject* all_of(PyObject* self, PyObject* const* objects, Py_ssize_t count) {
  return answer(self, objects, count, true);
}

inline PyMethodDef request_methods[] = {
    {"nearest", as_function(nearest), METH_FASTCALL, "Return the solution nearest to the seed."},
    {"all", as_function(all_of), METH_FASTCALL, "Return all solutions of a closed form."},
    {nullptr, nullptr, 0, nullptr},
};
inline PyType_Slot request_slots[] = {
    {Py_tp_init, reinterpret_cast<void*>(init_request)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_request)},
    {Py_tp_methods, request_methods},
    {0, nullptr},
};
inline PyType_Spec request_spec = {"arm_kinematics.kernels.compiled.Request",
                                   sizeof(RequestObject), 0, Py_TPFLAGS_DEFAULT, request_slots};

}  // namespace arm
