// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Python functions from C++ functions: each argument is checked by the type of its parameter, and
// the interpreter's lock is released meanwhile. Nothing is converted or copied; an array of the
// wrong kind, size or layout raises TypeError or ValueError.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "closed_form/branches.hpp"
#include "dynamics.hpp"
#include "self_motion.hpp"

namespace arm {

struct WrongType : std::exception {
};  // becomes TypeError, std::invalid_argument becomes ValueError

// The arguments of a call, taken one after the other.
class Arguments {
 public:
  int n = 0;  // joints of the chain, once that is taken

  Arguments(PyObject* const* objects, Py_ssize_t count, size_t expected) : next_(objects) {
    if (count != static_cast<Py_ssize_t>(expected)) throw WrongType{};
  }

  PyObject* object() { return *next_++; }

  bool is_at_none() const { return *next_ == Py_None; }

  // An aligned, C-contiguous array in native byte order, of a NumPy type and dimensions.
  PyArrayObject* array(int type, int dimensions, bool is_filled) {
    PyObject* argument = object();
    if (!PyArray_Check(argument)) throw WrongType{};
    auto* a = reinterpret_cast<PyArrayObject*>(argument);
    const int flags = is_filled ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO;
    if (PyArray_TYPE(a) != type || !PyArray_CHKFLAGS(a, flags) || !PyArray_ISNOTSWAPPED(a) ||
        PyDataType_REFCHK(PyArray_DESCR(a)))  // a record may hold Python's objects
      throw WrongType{};
    // NumPy asks no alignment of records.
    require(reinterpret_cast<uintptr_t>(PyArray_DATA(a)) % alignof(double) == 0, "not aligned");
    require(dimensions < 0 || PyArray_NDIM(a) == dimensions, "an array of other dimensions");
    require(PyArray_SIZE(a) <= NPY_MAX_INT, "too large an array");
    return a;
  }

  // Numbers or a record of so many bytes.
  template <class T>
  const T& block(int type, npy_intp size) {
    PyArrayObject* a = array(type, -1, false);
    require(PyArray_NBYTES(a) == size, "an array of another size or kind");
    return *static_cast<const T*>(PyArray_DATA(a));
  }

 private:
  PyObject* const* next_;
};

inline int dimension(PyArrayObject* a, int k) { return static_cast<int>(PyArray_DIM(a, k)); }

template <class T>
T* data(PyArrayObject* a) {
  return static_cast<T*>(PyArray_DATA(a));
}

constexpr npy_intp bytes(npy_intp doubles) { return doubles * 8; }

// How each type of parameter is taken.
template <class T>
struct Taken;

template <>
struct Taken<double> {
  static double from(Arguments& in) {
    const double value = PyFloat_AsDouble(in.object());
    if (value == -1.0 && PyErr_Occurred() != nullptr) throw WrongType{};
    return value;
  }
};

template <>
struct Taken<int> {
  static int from(Arguments& in) {
    const double value = Taken<double>::from(in);
    require(value >= 0.0 && value < 1e8, "a number out of range");
    return static_cast<int>(value);
  }
};

template <>
struct Taken<const Chain&> {
  static Chain from(Arguments& in) {
    PyArrayObject* a = in.array(NPY_VOID, 1, false);
    require(PyArray_ITEMSIZE(a) == static_cast<npy_intp>(sizeof(Joint)), "another kind of record");
    const Chain chain{dimension(a, 0) - 1, data<Joint>(a)};
    require(chain.n >= 1 && chain.n <= MAX_JOINTS, "a chain of 1 to 128 joints");
    for (int i = 0; i < chain.n; ++i)
      require(chain[i].leader >= 0.0 && chain[i].leader < chain.n, "a leader that is no joint");
    in.n = chain.n;
    return chain;
  }
};

template <>
struct Taken<const Options&> {
  static const Options& from(Arguments& in) {
    return in.block<Options>(NPY_VOID, sizeof(Options) + bytes(in.n));
  }
};

template <>
struct Taken<const Plan&> {
  static const Plan& from(Arguments& in) {
    const Plan& plan = in.block<Plan>(NPY_VOID, sizeof(Plan));
    const auto is_count = [](double value, int last) {
      return value >= 0.0 && value <= last && value == std::floor(value);
    };
    require(is_count(plan.before, 3) && is_count(plan.parallel, 3) && is_count(plan.after, 3) &&
                is_count(plan.kept, in.n) && is_count(plan.invariant, 1) && in.n <= PLAN_JOINTS,
            "a plan of impossible counts");
    const bool places_both_ends = plan.before == 1.0 && plan.after == 2.0;
    require(plan.kind() == Family::place_then_turn ||
                (plan.parallel >= 2.0 && (plan.first != BOTH || places_both_ends)),
            "a plan without parallel axes");
    const double solved = plan.before + plan.parallel + plan.after;
    require(solved <= in.n && solved + plan.kept >= in.n, "a plan of another chain");
    return plan;
  }
};

template <>
struct Taken<const Plan*> {  // nullptr for None
  static const Plan* from(Arguments& in) {
    if (!in.is_at_none()) return &Taken<const Plan&>::from(in);
    in.object();
    return nullptr;
  }
};

// Elements of several numbers have further dimensions; those of one that are read are joints'.
template <class T>
struct Taken<Span<T>> {
  static Span<T> from(Arguments& in) {
    constexpr bool is_read = std::is_const_v<T>;
    constexpr int numbers = static_cast<int>(sizeof(T) / bytes(1));
    PyArrayObject* a = in.array(NPY_DOUBLE, -1, !is_read);
    const int size = PyArray_NDIM(a) > 0 ? dimension(a, 0) : 0;
    require(PyArray_SIZE(a) == npy_intp{size} * numbers, "rows of another size");
    require(numbers > 1 || !is_read || in.n == 0 || size == in.n, "expected a number a joint");
    return {data<T>(a), size};
  }
};

template <class T>
struct Taken<Table<T>> {
  static Table<T> from(Arguments& in) {
    constexpr bool is_read = std::is_const_v<T>;
    PyArrayObject* a = in.array(NPY_DOUBLE, 2, !is_read);
    require(!is_read || in.n == 0 || dimension(a, 1) == in.n, "expected a number a joint");
    return {data<T>(a), dimension(a, 0), dimension(a, 1)};
  }
};

template <>
struct Taken<Result> {
  static Result from(Arguments& in) {
    PyArrayObject* a = in.array(NPY_VOID, 0, true);
    const npy_intp slot = bytes(Result::width(in.n));
    const npy_intp size = PyArray_NBYTES(a) - bytes(Result::HEAD), slots = size / slot;
    require(size >= slot && size % slot == 0 && slots <= NPY_MAX_INT, "a result of another chain");
    const Head& head = *data<Head>(a);
    require(head.solutions >= 0.0 && head.solutions <= static_cast<double>(slots) &&
                head.starts >= 0.0 && head.starts < 1e9,
            "a result of an impossible head");
    return {data<double>(a), static_cast<int>(slots), in.n};
  }
};

// Other types are plain numbers.
template <class T>
struct Taken<const T&> {
  static const T& from(Arguments& in) { return in.block<T>(NPY_DOUBLE, sizeof(T)); }
};

inline PyObject* to_python(int value) { return PyLong_FromLong(value); }
inline PyObject* to_python(bool value) { return PyBool_FromLong(value ? 1 : 0); }
inline PyObject* to_python(Two x) { return Py_BuildValue("ii", x.first, x.second); }

// Runs a function without the interpreter's lock.
template <class Function>
auto unlocked(Function function) {
  const auto restore = [](PyThreadState* state) { PyEval_RestoreThread(state); };
  const std::unique_ptr<PyThreadState, decltype(restore)> state(PyEval_SaveThread(), restore);
  return function();
}

// Runs a function that returns a new reference, and turns its exceptions into Python's.
template <class Function>
PyObject* guarded(Function function) {
  try {
    return function();
  } catch (const WrongType&) {
    if (PyErr_Occurred() == nullptr)
      PyErr_SetString(PyExc_TypeError, "wrong arguments: C-contiguous float64 arrays or records");
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

template <class Kind>
using Stored = decltype(Taken<Kind>::from(std::declval<Arguments&>()));

// The Python function of a C++ function.
template <auto function>
struct Call;

template <class Value, class... Kinds, Value (*function)(Kinds...)>
struct Call<function> {
  static PyObject* run(PyObject*, PyObject* const* objects, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
      Arguments in(objects, count, sizeof...(Kinds));
      const std::tuple<Stored<Kinds>...> values{Taken<Kinds>::from(in)...};  // in this order
      if constexpr (std::is_void_v<Value>) {
        unlocked([&] { std::apply(function, values); });
        Py_RETURN_NONE;
      } else {
        return to_python(unlocked([&] { return std::apply(function, values); }));
      }
    });
  }
};

inline PyCFunction as_function(PyObject* (*run)(PyObject*, PyObject* const*,
                                                Py_ssize_t)) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run));
}

template <auto function>
PyMethodDef entry(const char* name) noexcept {
  return {name, as_function(Call<function>::run), METH_FASTCALL, nullptr};
}

}  // namespace arm
