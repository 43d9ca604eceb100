# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Interface packages that only tests need, built separately by `./arm test`.

`./arm setup` therefore does not wait for them, and nodes can also be tested without them. Only the
parts for Python over Fast DDS are built, which takes about 30 s of CPU time once.
"""

import ctypes
import fcntl
import importlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from . import workspace
from .environment import run_environment
from .paths import TOOLS, Paths
from .progress import beside

OVERLAY = TOOLS / "overlay_for_tests"
PACKAGES = (OVERLAY / "object_recognition_msgs", OVERLAY / "moveit_msgs")
NAMES = tuple(package.name for package in PACKAGES)
PARTS = ("generator_c", "typesupport_fastrtps_c", "typesupport_c", "generator_py")


def prefix(paths: Paths) -> Path:
    """Return the install prefix of these packages, building them if necessary.

    Raises:
        SetupError: Building failed.
    """
    folder = paths.venv / "messages_for_tests"
    folder.mkdir(parents=True, exist_ok=True)
    install, stamp = folder / "install", folder / "built"
    marks = "\n".join(map(workspace.fingerprint, PACKAGES))
    with (folder / "lock").open("w") as lock:  # several test processes may get here at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != marks:
            shutil.rmtree(install, ignore_errors=True)
            _build(paths, folder, install)
            stamp.write_text(marks)
    return install


def _build(paths: Paths, folder: Path, install: Path) -> None:
    command = [str(paths.python), "-m", "colcon", "--log-base", str(folder / "log"), "build"]
    command += ["--merge-install", "--build-base", str(folder / "build")]
    command += ["--install-base", str(install), "--base-paths", *map(str, PACKAGES)]
    command += ["--cmake-args", f"-DPython3_EXECUTABLE={paths.python}", "-DBUILD_TESTING=OFF"]
    log = paths.logs / "messages_for_tests.log"
    with beside(command, log, "Building messages for tests", run_environment(paths), folder):
        pass


def environment(install: Path, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for a process that uses these packages."""
    ahead = {
        "AMENT_PREFIX_PATH": install,
        "LD_LIBRARY_PATH": install / "lib",
        "PYTHONPATH": _site(install),
    }
    return {**base, **{key: f"{path}:{base.get(key, '')}" for key, path in ahead.items()}}


@contextmanager
def loaded(install: Path) -> Iterator[None]:
    """Make these packages importable in this process, whose library search path is fixed."""
    for package in PACKAGES:
        for part in PARTS:
            library = install / "lib" / f"lib{package.name}__rosidl_{part}.so"
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    place = str(_site(install))
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        yield
    finally:  # other tests in this process run without them
        sys.path.remove(place)
        for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
            del sys.modules[name]


def _site(install: Path) -> Path:
    return next(install.glob("lib/python3.*/site-packages"))
