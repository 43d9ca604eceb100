# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels compile without a warning, and their tests pass with sanitizers.

The build is that of setup.py, with flags added: `CFLAGS` for C++ with older setuptools, `CXXFLAGS`
with newer ones.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2]
SANITIZED = "-Werror -fsanitize=address,undefined -fno-sanitize-recover=undefined"


def library(name: str) -> Path:
    """Return a library of the compiler."""
    found = subprocess.check_output(["g++", f"-print-file-name={name}"], text=True)
    return Path(found.strip()).resolve()


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_module_has_neither_warnings_nor_what_sanitizers_find(tmp_path):
    package = tmp_path / "arm_kinematics"
    ignored = shutil.ignore_patterns("test", "build", "*.so", "*.egg-info", "__pycache__")
    shutil.copytree(SOURCES, package, ignore=ignored)
    flags = {"CFLAGS": SANITIZED, "CXXFLAGS": SANITIZED, "CC": "gcc", "CXX": "g++"}
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(
        build, cwd=package, env=os.environ | flags, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    environment = os.environ | {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",  # before Python
        "ASAN_OPTIONS": "detect_leaks=0",  # of the interpreter
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "ARM_EXPECTED_KERNELS": str(package),
        "CXXFLAGS": SANITIZED,  # of arm_testing.arms.header_functions
    }
    tests = [str(Path(__file__).with_name(f"test_{name}.py")) for name in ("module", "residuals")]
    run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert " passed" in done.stdout
