# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled or not, cached or not, read-only or without a home: the same answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from arm_kinematics.kernels import jit
from arm_kinematics.paths.timing import time_path

import arm_kinematics
from arm_description import load_robot
from arm_kinematics import Chain

SOLVE = """
import numpy as np
from arm_description import load_robot
from arm_kinematics import Chain, jit
from arm_kinematics.paths.timing import time_path
arm = Chain.from_model(load_robot("nut_arm"))
r = arm.ik(arm.fk([0.1, 0.2, 0.3, 0.4]))
far = arm.fk([0.1, 0.2, 0.3, 0.4])
far[0, 3] += 1.0
t = time_path([[0.0], [1.0]], [1.0], [1.0])
print(int(jit.HAVE_NUMBA), jit.cache_folder(), sep="|")
print(r.status.name, *r.q.tolist(), arm.ik(far).status.name, t.times[-1], sep="|")
"""


def run(code: str = SOLVE, path: Path | None = None, **environment: str | None):
    env = {key: value for key, value in os.environ.items() if environment.get(key, "") is not None}
    env.update({key: value for key, value in environment.items() if value is not None})
    if path is not None:
        env["PYTHONPATH"] = os.pathsep.join([str(path), env.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False
    )


def answers(done) -> tuple[list[str], list[str]]:
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.strip().splitlines()
    return first.split("|"), second.split("|")


def test_without_numba_it_is_the_same_and_said_once():
    done = run(ARM_KINEMATICS_NO_NUMBA="1")
    (have, _), (status, *numbers, far, time) = answers(done)
    assert (have, status, far) == ("0", "SUCCESS", "UNREACHABLE_POSITION")
    assert done.stderr.count("numba is not used") == 1
    arm = Chain.from_model(load_robot("nut_arm"))
    expected = arm.ik(arm.fk([0.1, 0.2, 0.3, 0.4])).q
    assert np.allclose([float(x) for x in numbers], expected, atol=1e-6)
    assert float(time) == pytest.approx(time_path([[0.0], [1.0]], [1.0], [1.0]).times[-1])


BLOCKED = """
import sys
sys.modules["numba"] = None  # importing it fails, as where it is not installed
import numpy as np
from arm_description import load_robot
from arm_kinematics import Chain
from arm_kinematics.lie import so3_exp
arm = Chain.from_model(load_robot("nut_arm"))
q = np.array([0.1, 0.2, 0.3, 0.4])
T = arm.fk(q)
leaning, bent, far = T.copy(), arm.fk([0.0, 0.2, 1.8, 0.0]), T.copy()
leaning[:3, :3] = T[:3, :3] @ so3_exp([0.0, 0.7, 0.0])
far[0, 3] += 1.0
for asked in (
    {"T": T}, {"T": T, "mode": "position", "prefer": "centred"}, {"T": leaning}, {"T": bent},
    {"T": far}, {"T": far, "timeout": 1e-6},
    {"T": leaning, "orientation_tolerance": (np.inf, np.inf, 1e-4)},
):
    print(arm.ik(**asked).status.name)
print(*arm.fk(q).ravel().tolist(), sep="|")
print(*arm.jacobian(q).ravel().tolist(), sep="|")
print(*arm.ik_batch(np.array([T, bent])).status.tolist(), sep="|")
"""


def test_where_numba_is_not_installed_all_statuses_are_the_same():
    done = run(BLOCKED)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("numba is not used") == 1
    *statuses, pose, jacobian, batch = done.stdout.split()
    assert statuses == [
        "SUCCESS",
        "SUCCESS",
        "UNREACHABLE_ORIENTATION",
        "JOINT_LIMIT",
        "UNREACHABLE_POSITION",
        "TIMEOUT",
        "SUCCESS",
    ]
    arm = Chain.from_model(load_robot("nut_arm"))
    q = [0.1, 0.2, 0.3, 0.4]
    assert np.allclose([float(x) for x in pose.split("|")], arm.fk(q).ravel(), atol=1e-14)
    found = [float(x) for x in jacobian.split("|")]
    assert np.allclose(found, arm.jacobian(q).ravel(), atol=1e-14)
    assert batch == "1|-3"


def test_importing_the_core_imports_no_ros_and_compiles_nothing():
    code = (
        "import sys, arm_kinematics, arm_kinematics.paths.timing;"
        "assert not any(m.split('.')[0] in ('rclpy', 'transforms3d') for m in sys.modules);"
        "from arm_kinematics.kernels.forward import fk; print(len(getattr(fk, 'signatures', [])))"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


needs_numba = pytest.mark.skipif(not jit.HAVE_NUMBA, reason="numba is not installed")


@needs_numba
def test_the_cache_is_named_after_the_sources(tmp_path):
    folder = jit.cache_folder()
    assert folder is not None and folder.name.startswith("arm_kinematics-")


@pytest.fixture
def read_only_copy(tmp_path: Path):
    """The package where nothing can be written beside it: its cache folder's place is a file."""
    source = Path(arm_kinematics.__file__).parent
    copy = tmp_path / "site" / "arm_kinematics"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "__pycache__").write_text("in the way, also for root")
    return copy.parent


WHERE = "from arm_kinematics import jit, kernels; print(jit.cache_folder())"
COMPILE = WHERE + "; kernels.sine_and_cosine(0.5)"


@needs_numba
def test_installed_read_only_it_compiles_into_the_home_folder(read_only_copy, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    done = run(
        COMPILE, path=read_only_copy, HOME=str(home), NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None
    )
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert folder.parent == home / ".cache"
    assert list(folder.rglob("*.nbc")), "nothing was kept"


@needs_numba
@pytest.mark.parametrize("home", [None, "", "/nonexistent"])
def test_without_a_home_it_is_a_private_folder_among_the_temporary_ones(
    read_only_copy, tmp_path, home
):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    unwritable = (
        home if home != "/nonexistent" else str(read_only_copy / "arm_kinematics/kernels/jit.py")
    )
    done = run(
        WHERE,
        path=read_only_copy,
        HOME=unwritable,
        NUMBA_CACHE_DIR=None,
        XDG_CACHE_HOME=None,
        TMPDIR=str(temporary),
    )
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert folder.parent == temporary / f"arm_kinematics-{os.getuid()}"
    assert folder.stat().st_mode & 0o077 == 0


@needs_numba
def test_the_users_choice_comes_first(tmp_path):
    done = run(WHERE, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))
    assert Path(done.stdout.strip()).parent == tmp_path / "chosen"


@needs_numba
def test_a_folder_that_others_may_write_is_not_trusted(tmp_path):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    done = run(WHERE, NUMBA_CACHE_DIR=str(open_to_all))
    assert Path(done.stdout.strip()).parent != open_to_all


@needs_numba
def test_nowhere_to_write_is_no_reason_to_fail(read_only_copy):
    code = (
        "import pathlib, tempfile\n"
        "def refuse(*_, **__): raise PermissionError('read-only')\n"
        "pathlib.Path.mkdir = tempfile.gettempdir = refuse\n"
        "from arm_kinematics import jit, kernels\n"
        "print(jit.cache_folder(), kernels.sine_and_cosine(0.5)[0])"
    )
    done = run(code, path=read_only_copy)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "None"
    assert float(done.stdout.split()[1]) == pytest.approx(np.sin(0.5))


def folder(path: Path, *files: str, mode: int = 0o755) -> Path:
    path.mkdir()
    for file in files:
        (path / file).write_text(file)
    path.chmod(mode)
    return path


def test_what_an_installation_has_compiled_is_taken_over(tmp_path):
    installed, mine = folder(tmp_path / "installed", "fk.nbi"), folder(tmp_path / "mine")
    jit._take_over(installed, mine)
    assert (mine / "fk.nbi").read_text() == "fk.nbi"
    (mine / "fk.nbi").write_text("newer")
    jit._take_over(installed, mine)
    assert (mine / "fk.nbi").read_text() == "newer"


def test_what_anybody_could_have_written_is_not_taken_over(tmp_path):
    open_to_all = folder(tmp_path / "installed", "fk.nbi", mode=0o777)
    mine = folder(tmp_path / "mine")
    jit._take_over(open_to_all, mine)
    jit._take_over(tmp_path / "nowhere", mine)
    assert list(mine.iterdir()) == []


def test_an_installation_leaves_nothing_behind_of_earlier_sources(tmp_path, monkeypatch):
    now, before = folder(tmp_path / "arm_kinematics-new"), folder(tmp_path / "arm_kinematics-old")
    monkeypatch.setattr(jit, "cache_folder", lambda: now)
    jit.finish_installation()
    assert before.exists()  # a folder of somebody else's choice: not ours to tidy
    monkeypatch.setattr(jit, "_installed", lambda: now)
    jit.finish_installation()
    assert now.exists() and not before.exists()
