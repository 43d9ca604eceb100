# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The compiled module: its records, its answers to wrong arguments, and its thread safety."""

import contextlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arm_common.control import time_scaling
from arm_kinematics.ik.result import IkResult, IkStatus
from arm_kinematics.kernels import compiled, layout
from arm_testing.arms.chains import posture, shipped

CHAIN = shipped("puma560")
SOLVER = CHAIN._solver
KEY = ("pose", 1e-5, 1e-4, None, "target", None, "nearest")
PREPARED = SOLVER.prepared(KEY)
FORM, OPTIONS, EXACT = PREPARED.form, PREPARED.descent, PREPARED.exact
C, PLAN, Q = SOLVER.model.constants, FORM.plan, np.array([0.1, 0.6, -2.8, 0.3, 0.8, 0.1])
T, ONE, SEVEN = CHAIN.fk(Q), np.ones(6), np.ones((4, 7))
BODIES, RESULT = CHAIN.bodies.table, layout.empty_result(6, 8)
PANDA = shipped("panda")._solver.model.constants
CALLS = {  # valid arguments of every function
    "fk": (C, Q),
    "fk_jacobian": (C, Q),
    "prepare_nearest": (C, OPTIONS, EXACT, PLAN, Q, IkResult, IkStatus.SUCCESS),
    "prepare_all": (C, OPTIONS, EXACT, PLAN, Q, IkResult, IkStatus.SUCCESS),
    "search": (C, OPTIONS, T, Q, RESULT),
    "solve_all": (C, EXACT, PLAN, T, Q, RESULT),
    "solve_given": (C, EXACT, 1.0, Q[None], T, Q, RESULT),
    "solve_many": (C, OPTIONS, EXACT, PLAN, T[None], Q[None], np.zeros((1, 19))),
    "fill_postures": (C, PLAN, T[None], Q, np.zeros((8, 6))),
    "collect": (
        *(C, T, 1.0, 5, np.ones((9, 14)), np.ones((9, 14)), ONE, np.ones((6, 12)), ONE),
        *(np.ones((64, 6)), 0),
    ),
    "trace": (PANDA, T, 0.3, 0.1, np.ones(7), SEVEN, 1),
    "passes": (PANDA, T, 0.3, 0.1, SEVEN, np.ones(7)),
    "fill_point": (PANDA, T, 0.3, np.ones(7), np.ones(7), np.ones(7)),
    "inverse_dynamics": (BODIES, Q[None], Q[None], Q[None], np.ones(3), np.ones((1, 6))),
    "backward_pass": (np.ones((3, 2)), np.ones((3, 2)), np.ones(4)),
    "forward_pass": (np.ones((3, 2)), np.ones((3, 2)), np.ones(4)),
}
FUNCTIONS = {n for n in dir(compiled) if callable(getattr(compiled, n)) and n[0].islower()}


def copied(arguments):
    return [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]


def test_the_kernels_are_those_to_be_tested():
    expected = os.environ.get("ARM_EXPECTED_KERNELS", "")  # of test_build
    assert compiled.__file__.startswith(expected)


def test_every_function_is_tried():
    assert set(CALLS) == FUNCTIONS
    for name, arguments in CALLS.items():
        getattr(compiled, name)(*copied(arguments))


def test_records_have_the_same_layout_on_both_sides():
    assert layout.record_sizes() == compiled.RECORD_SIZES
    records = layout.JOINT, layout.options_dtype(3), layout.PLAN
    for record in (*records, layout.result_dtype(3, 2)):
        assert record.alignment == 1 or record.alignment == 8
        offsets = [record.fields[name][1] for name in record.names]
        sizes = [record.fields[name][0].itemsize for name in record.names]
        assert offsets == [sum(sizes[:k]) for k in range(len(sizes))]  # as C++ structs of doubles


def of_objects(array):
    """Return a dtype of the same size that holds Python's objects."""
    return [("a", object, (array.dtype.itemsize // 8,))]


def wrong_versions(value, rng):
    """Yield what is no such argument: other types, ranks, sizes, strides, orders, values."""
    yield from (None, "text", [], {}, object(), 1 << 80, float("nan"), np.float32(1.0))
    if not isinstance(value, np.ndarray):
        yield from (-1, 1e300, np.inf, np.ones(3))
        return
    array = value.copy()
    yield from (array[None], np.array(["a"]), np.zeros(0), np.zeros((0, 4, 4)))
    if array.dtype.names is None:
        yield from (array.astype(np.float32), array.astype(">f8"), array.ravel()[:-1].copy())
        yield from (np.repeat(array, 2, axis=-1)[..., ::2], np.asfortranarray(array).T)
        yield from (np.full_like(array, np.nan), np.full_like(array, np.inf), array * 1e200)
    else:
        yield np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape).copy()
        yield from (np.zeros_like(array), np.zeros((), array.dtype), np.zeros(200, array.dtype))
        yield from (np.zeros((), [("a", float, (3,))]), np.zeros(array.shape, of_objects(array)))
        yield np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    frozen = value.copy()
    frozen.setflags(write=False)
    yield frozen


@pytest.mark.parametrize("name", sorted(CALLS))
def test_wrong_arguments_raise_or_are_answered(name, rng):
    """No argument ends the process, and none but TypeError and ValueError is raised."""
    function, arguments = getattr(compiled, name), CALLS[name]
    for k in range(len(arguments)):
        for wrong in wrong_versions(arguments[k], rng):
            changed = copied(arguments)
            changed[k] = wrong
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                function(*changed)
    for count in (0, len(arguments) - 1, len(arguments) + 1):
        with pytest.raises(TypeError):
            function(*(copied(arguments) * 2)[:count])


def test_output_arrays_must_be_writable():
    result = RESULT.copy()
    result.setflags(write=False)
    with pytest.raises(TypeError):
        compiled.search(C, OPTIONS, T, Q, result)


@pytest.mark.parametrize("wrong", [None, "text", [1.0], [[1.0] * 6], np.full(6, np.nan), 3])
def test_request_gives_none_for_what_is_no_pose_or_posture(wrong):
    nearest, solve_all = PREPARED.nearest, PREPARED.every
    assert nearest(wrong, Q) is None and solve_all(wrong, None) is None
    if wrong is not None:
        assert nearest(T, wrong) is None and solve_all(T, wrong) is None
        assert compiled.fk(C, wrong) is None


def test_request_checks_its_parts():
    parts = CALLS["prepare_nearest"]
    for k, wrong in enumerate([C[:3], OPTIONS[None][:0], PLAN, OPTIONS, Q[:5], bytearray]):
        for prepare in (compiled.prepare_nearest, compiled.prepare_all):
            with pytest.raises((TypeError, ValueError)):
                prepare(*[wrong if i == k else part for i, part in enumerate(parts)])
    for count in (0, 1, 3):
        with pytest.raises(TypeError):
            compiled.prepare_nearest(*parts)(*[T, Q, Q][:count])


def test_request_keeps_its_parts():
    parts = [C.copy(), OPTIONS.copy(), EXACT.copy(), PLAN.copy(), Q.copy()]
    request = compiled.prepare_nearest(*parts, IkResult, IkStatus.SUCCESS)
    before = request(T, Q + 1.0).q
    for part in parts:
        part.reshape(-1).view(np.uint8)[...] = 255
    assert np.array_equal(request(T, Q + 1.0).q, before)


def test_a_result_cannot_be_made_without_its_numbers():
    for arguments in ((), (IkStatus.SUCCESS, np.zeros(18), 6, None), (1, [0.0] * 19, 6, None)):
        with pytest.raises((TypeError, ValueError)):
            IkResult.__new__(IkResult, *arguments)


@pytest.mark.parametrize(
    "changes",
    [
        {"family": 1, "before": 0, "parallel": 0, "after": 0, "kept": 6},
        {"family": 1, "before": 1, "parallel": 3, "after": 1, "first": layout.BOTH},
        {"before": 1.5, "after": 4.5},
    ],
)
def test_impossible_plans_are_refused(changes):
    plan = PLAN.copy()
    for name, value in changes.items():
        plan[name] = value
    with pytest.raises(ValueError, match="plan"):
        compiled.solve_all(C, EXACT, plan, T, Q, RESULT.copy())


def test_what_is_no_posture_is_not_polished():
    """Neither the third angle nor the products of an eigenvalue lead to a posture."""
    angles, products = np.full(6, 0.3), np.ones((6, 12))
    for q3, v in (
        (np.full(6, np.nan), products),
        (angles, np.full((6, 12), np.nan)),
        (np.full(6, 1e200), products),
    ):
        solutions, limits = np.zeros((64, 6)), np.full(6, 1e300)
        loop = np.ones((9, 14))
        found = compiled.collect(C, T, 0.3, 5, loop, loop, q3, v, limits, solutions, 0)
        assert found == (0, 0) and (limits == np.inf).all() and not solutions.any()


def test_results_can_be_sent_to_another_process_and_requests_stay():
    result = CHAIN.all_solutions(T, Q)
    other = pickle.loads(pickle.dumps(result))
    assert np.array_equal(other.every_q, result.every_q)
    assert other.status == result.status and other.message == result.message
    general = shipped("raghavan_roth")
    general.all_solutions(general.fk(general.middle))
    state = general._solver.__getstate__()  # neither a request nor a function of LAPACK
    assert state["_prepared"] == {} and state["_all_postures"] is None


def test_results_can_be_shared_by_threads(rng):
    targets = [CHAIN.fk(posture(CHAIN, rng)) for _ in range(200)]
    alone = [CHAIN.ik(target, Q).q for target in targets]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda target: CHAIN.ik(target, Q).q, targets))
    assert np.array_equal(alone, together)


def test_passes_are_those_of_the_driver(rng):
    offset, gain = rng.uniform(0.0, 2.0, (2, 40, 6))
    offset[rng.random(offset.shape) < 0.2] = np.inf
    for ours, plain in (
        (compiled.backward_pass, time_scaling.backward_pass),
        (compiled.forward_pass, time_scaling.forward_pass),
    ):
        x = rng.uniform(0.0, 3.0, 41)
        y = x.copy()
        ours(offset, gain, x)
        plain(offset, gain, y)
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_importing_the_package_is_light():
    code = (
        "import sys, arm_kinematics, arm_kinematics.paths.timing, arm_kinematics.markers.layers;"
        "print({'rclpy', 'transforms3d', 'matplotlib', 'scipy'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("stale", ["missing", "old"])
def test_missing_or_stale_module_is_named_in_one_sentence(stale):
    code = "import sys\nfrom arm_common.signals import tool_entry_point\n"
    if stale == "missing":
        code += "sys.modules['arm_kinematics.kernels.compiled'] = None\n"
    else:
        code += "from types import ModuleType\nm = ModuleType('arm_kinematics.kernels.compiled')\n"
        code += "m.RECORD_SIZES, m.SOURCES = (), 'of another time'\nsys.modules[m.__name__] = m\n"
        code += "import arm_common.signals\n"
    code += "sys.exit(tool_entry_point('arm_kinematics.commands.pose', 'ik')())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "compiled kernels" in line and ("colcon build" in line or "./arm setup" in line)
