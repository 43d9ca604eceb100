# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Results are equal with and without compilation; importing the package is light."""

import subprocess
import sys

import numpy as np
import pytest
from arm_kinematics.paths.timing import time_path

from arm_description import load_robot
from arm_kinematics import Chain

UNCOMPILED = """
import sys
sys.modules["numba"] = None  # importing it fails, as if it were not installed
import numpy as np
from arm_description import load_robot
from arm_kinematics import Chain
from arm_common.transforms import so3_exp
from arm_kinematics.paths.timing import time_path
arm = Chain.from_model(load_robot("nut_arm"))
q = np.array([0.1, 0.2, 0.3, 0.4])
T = arm.fk(q)
leaning, bent, far = T.copy(), arm.fk([0.0, 0.2, 1.8, 0.0]), T.copy()
leaning[:3, :3] = T[:3, :3] @ so3_exp([0.0, 0.7, 0.0])
far[0, 3] += 1.0
for request in (
    {"T": T}, {"T": T, "mode": "position", "prefer": "centred"}, {"T": leaning}, {"T": bent},
    {"T": far}, {"T": far, "timeout": 1e-6},
    {"T": leaning, "orientation_tolerance": (np.inf, np.inf, 1e-4)},
):
    print(arm.ik(**request).status.name)
for numbers in (
    arm.ik(T).q, T, arm.jacobian(q), time_path([[0.0], [1.0]], [1.0], [1.0]).times[-1:]
):
    print(*numbers.ravel().tolist(), sep="|")
print(*arm.ik_batch(np.array([T, bent])).status.tolist(), sep="|")
"""
STATUSES = (
    "SUCCESS SUCCESS UNREACHABLE_ORIENTATION JOINT_LIMIT UNREACHABLE_POSITION TIMEOUT SUCCESS"
)


def run(code: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_results_without_numba_are_equal_after_one_warning():
    done = run(UNCOMPILED)
    assert done.stderr.count("numba is not used") == 1
    *statuses, solution, pose, jacobian, time, batch = done.stdout.split()
    assert statuses == STATUSES.split()
    arm, q = Chain.from_model(load_robot("nut_arm")), [0.1, 0.2, 0.3, 0.4]

    def numbers(line: str) -> list[float]:
        return [float(x) for x in line.split("|")]

    assert np.allclose(numbers(solution), arm.ik(arm.fk(q)).q, atol=1e-6)
    assert np.allclose(numbers(pose), arm.fk(q).ravel(), atol=1e-14)
    assert np.allclose(numbers(jacobian), arm.jacobian(q).ravel(), atol=1e-14)
    assert float(time) == pytest.approx(time_path([[0.0], [1.0]], [1.0], [1.0]).times[-1])
    assert batch == "1|-3"


def test_environment_variable_disables_numba(monkeypatch):
    monkeypatch.setenv("ARM_KINEMATICS_NO_NUMBA", "1")
    assert run("from arm_common import jit; print(jit.HAVE_NUMBA)").stdout == "False\n"


def test_importing_the_core_is_light_and_compiles_nothing():
    code = (
        "import sys, arm_kinematics, arm_kinematics.paths.timing, arm_kinematics.markers.layers;"
        "unwanted = {'rclpy', 'transforms3d', 'matplotlib', 'scipy.optimize'};"
        "assert not unwanted & sys.modules.keys();"
        "from arm_kinematics.kernels.forward import fk; print(len(getattr(fk, 'signatures', [])))"
    )
    assert run(code).stdout == "0\n"
