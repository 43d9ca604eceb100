# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of the kernels' headers for tests: compiled at their first use, beside the product."""

import importlib.util
import os
import shlex
import subprocess
import sysconfig
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

# As in its setup.py, where they are explained, but quick to compile.
FLAGS = ("-std=c++17", "-O1", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")


@lru_cache
def _module(package: Path) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="header_functions_"))
    library = folder / f"header_functions{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = (
        f"{package}/arm_kinematics/cpp",
        sysconfig.get_paths()["include"],
        np.get_include(),
    )
    added = shlex.split(os.environ.get("CXXFLAGS", ""))  # of the sanitizers
    command = [
        *("g++", *FLAGS, *added, "-shared", "-fPIC", *(f"-I{path}" for path in includes)),
        *(str(package / "test/kernels/header_functions.cpp"), "-o", str(library)),
    ]
    subprocess.run(command, check=True, env=os.environ | {"LD_PRELOAD": ""})
    spec = importlib.util.spec_from_file_location("header_functions", library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    library.unlink()
    folder.rmdir()
    return module


class HeaderFunctions:
    """The functions of a package's kernels, from its source."""

    def __init__(self, package: Path) -> None:
        self._package = package

    def residual(
        self, chain: np.ndarray, options: np.ndarray, q: np.ndarray
    ) -> tuple[np.ndarray, Any]:
        """Return the error (6,) and its derivative (6, n) at q, for the target at the base."""
        error, derivative = np.empty(6), np.empty((6, len(q)))
        _module(self._package).residual(chain, options, np.eye(4), q, error, derivative)
        return error, derivative

    def roots(
        self, slides: bool, a: float, b: float, c: float, size: float
    ) -> tuple[int, float, float]:
        """Solve (a, b) . phi(q) = c: the number of roots, -1 if every q is one, and the roots."""
        out = np.empty(3)
        _module(self._package).joint_roots(int(slides), a, b, c, size, out)
        return int(out[0]), float(out[1]), float(out[2])

    def real_roots(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the real roots of a quartic, ascending, from its coefficients (5,)."""
        out = np.empty(8)
        return out[: _module(self._package).quartic_roots(coefficients, out)]
