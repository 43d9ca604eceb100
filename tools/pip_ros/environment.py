# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The environment in which the nodes run: the wheels in .venv plus the built workspace."""

import os
import pwd
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .paths import Paths


def ros_is_sourced(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the caller's shell has sourced a ROS 2 other than ours."""
    return bool(environment.get("ROS_DISTRO")) and "ARM_VENV" not in environment


def wheel_environment(paths: Paths, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for building with the wheels of .venv.

    The wheels install lib/ and share/ into the root of the virtual environment: it is the ament
    prefix. Setting LD_LIBRARY_PATH here saves their bootstrap from starting Python twice.
    """
    site = next(iter((paths.venv / "lib").glob("python3.*/site-packages")), paths.venv)
    libraries = [paths.venv / "lib", *sorted(site.glob("ros_*.libs"))]
    removed = (
        "PYTHONPATH",
        "PYTHONHOME",
        "AMENT_PREFIX_PATH",
        "COLCON_PREFIX_PATH",
        "LD_LIBRARY_PATH",
    )
    environment = {key: value for key, value in base.items() if key not in removed}
    environment |= {
        "ARM_VENV": str(paths.venv),
        "VIRTUAL_ENV": str(paths.venv),
        "PATH": f"{paths.venv / 'bin'}:{base.get('PATH', '/usr/bin:/bin')}",
        "AMENT_PREFIX_PATH": str(paths.venv),
        "CMAKE_PREFIX_PATH": str(paths.venv),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        "ROS_VERSION": "2",
        "ROS_PYTHON_VERSION": "3",
        "ROS_DISTRO": "jazzy",
    }
    return environment


def run_environment(paths: Paths, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for running the nodes of the built workspace."""
    environment = wheel_environment(paths, base)
    install = paths.install
    python = next(iter(install.glob("lib/python3.*/site-packages")), install)
    environment |= {
        "AMENT_PREFIX_PATH": f"{install}:{paths.venv}",
        "PYTHONPATH": str(python),
        "LD_LIBRARY_PATH": f"{install / 'lib'}:{environment['LD_LIBRARY_PATH']}",
        "PATH": f"{install / 'bin'}:{environment['PATH']}",
    }
    # An arm's matrices are far too small to parallelise; waiting threads only waste CPU time.
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    return environment


def with_home(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment whose HOME can be written: ROS 2 and matplotlib keep files there.

    Without one it is the user's own folder, else one for this run.
    """
    given = environment.get("HOME", "")
    try:
        own = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # a user without a name, as in containers
        own = ""
    usable = (
        home
        for home in filter(None, (given, own))
        if Path(home).is_dir() and os.access(home, os.W_OK)
    )
    home = next(usable, "") or tempfile.mkdtemp(prefix="arm-home-")
    return {**environment, "HOME": home}
