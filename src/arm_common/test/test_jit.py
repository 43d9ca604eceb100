# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels are compiled once per source and never loaded from world-writable folders."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arm_common import jit

pytestmark = pytest.mark.skipif(not jit.HAVE_NUMBA, reason="numba is not installed")

INNER = "from arm_common.jit import kernel\n\n\n@kernel\ndef inner(x):\n    return {} * x\n"
OUTER = (
    "from arm_common.jit import kernel\nfrom tiny.inner import inner\n\n\n"
    "@kernel\ndef outer(x):\n    return inner(x) + 1.0\n"
)
PLACE = """
import pathlib, tempfile, tiny
from arm_common import jit
package = pathlib.Path(tiny.__file__)
def refuse(*_, **__): raise PermissionError("read-only")
"""
RUN = "from tiny.outer import outer\nprint(jit.cache_folder(package), outer(3.0), sep='|')\n"
CHOOSE = "print(jit.cache_folder(package), 0.0, sep='|')\n"
INSTALL = "jit.finish_installation(package)\n"


def run(package, code=RUN, **environment):
    places = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None, **environment}
    env = {k: v for k, v in {**os.environ, **places}.items() if v is not None}
    env["PYTHONPATH"] = os.pathsep.join([str(package.parent), env.get("PYTHONPATH", "")])
    command = [sys.executable, "-B", "-c", PLACE + code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    folder, result = done.stdout.strip().split("|")
    return Path(folder), float(result)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A package of two kernels, one calling the other."""
    folder = tmp_path_factory.mktemp("site") / "tiny"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "inner.py").write_text(INNER.format(2.0))
    (folder / "outer.py").write_text(OUTER)
    return folder


@pytest.fixture(scope="module")
def installed(original):
    """The cache folder after an installation, and the result of the kernels."""
    older = original / "__pycache__" / "tiny-0123456789ab"
    older.mkdir(parents=True)
    found = run(
        original, RUN + "assert next(package.parent.glob('*/tiny-0123456789ab'))\n" + INSTALL
    )
    assert not older.exists()  # removed, as it belongs to older sources
    return found


@pytest.fixture
def package(original, tmp_path):
    """A copy of the package, before it is compiled."""
    return Path(
        shutil.copytree(original, tmp_path / "tiny", ignore=shutil.ignore_patterns("__pycache__"))
    )


@pytest.fixture
def read_only(package):
    """The same where nothing can be written beside the source, not even by root."""
    (package / "__pycache__").write_text("in the way")
    return package


def test_kernels_are_cached_beside_the_source(original, installed):
    folder, result = installed
    assert result == 7.0
    assert folder.parent == original / "__pycache__"
    assert folder.name.startswith("tiny-")
    assert list(folder.rglob("*.nbc"))
    assert folder.stat().st_mode & 0o055 == 0o055  # readable by others, once installed


def test_changing_a_called_kernel_recompiles_its_caller(package, installed):
    before, _ = installed
    shutil.copytree(before, package / "__pycache__" / before.name)
    assert run(package, CHOOSE)[0].name == before.name
    (package / "plain.py").write_text("x = 1\n")  # outside of kernels
    assert run(package, CHOOSE)[0].name == before.name
    (package / "inner.py").write_text(INNER.format(5.0))
    after, result = run(package)
    assert result == 16.0
    assert after.name != before.name


def test_read_only_installation_caches_in_the_home_folder(read_only, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    folder, _ = run(read_only, HOME=str(home))
    assert folder.parent == home / ".cache"
    assert list(folder.rglob("*.nbc"))


@pytest.mark.parametrize("home", [None, "", "a file"])
def test_without_a_home_a_private_temporary_folder_is_used(read_only, tmp_path, home):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = str(read_only / "inner.py") if home else home
    folder, _ = run(read_only, CHOOSE, HOME=home, TMPDIR=str(temporary))
    assert folder.parent == temporary / f"arm-{os.getuid()}"
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("mode", "trusted"), [(0o700, True), (0o777, False)])
def test_users_choice_is_preferred_unless_world_writable(package, tmp_path, mode, trusted):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    chosen.chmod(mode)
    folder, _ = run(package, CHOOSE, NUMBA_CACHE_DIR=str(chosen))
    assert (folder.parent == chosen) == trusted


def test_kernels_compile_without_a_writable_folder(read_only):
    code = "pathlib.Path.mkdir = tempfile.gettempdir = refuse\n"
    assert run(read_only, code + RUN) == (Path("None"), 7.0)


def test_kernels_of_a_read_only_installation_are_copied(original, installed, tmp_path):
    code = (
        "real = tempfile.TemporaryFile\n"
        "beside = str(package.parent)\n"
        "def write(dir): return refuse() if str(dir).startswith(beside) else real(dir=dir)\n"
        "tempfile.TemporaryFile = write\n"
        "import numba\nfrom numba.core import caching\n"
        "caching.IndexDataCacheFile.save = refuse  # nothing is compiled again\n"
    )
    copied, result = run(original, code + RUN, HOME=str(tmp_path))
    assert result == 7.0
    assert copied == tmp_path / ".cache" / installed[0].name


def test_world_writable_cache_is_not_copied(package, installed, tmp_path):
    beside = package / "__pycache__" / installed[0].name
    shutil.copytree(installed[0], beside)
    beside.chmod(0o777)
    folder, _ = run(package, CHOOSE, HOME=str(tmp_path))
    assert folder.parent == tmp_path / ".cache"
    assert not list(folder.rglob("*.nbc"))


def cut_off(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def emptied(file):
    file.write_bytes(b"")


def noisy(file):
    file.write_bytes(b"\xff" * file.stat().st_size)


@pytest.mark.parametrize(
    ("index", "data"),
    [
        (cut_off, emptied),
        pytest.param(emptied, cut_off, marks=pytest.mark.thorough),
        pytest.param(noisy, noisy, marks=pytest.mark.thorough),
    ],
)
def test_damaged_cache_files_are_made_anew_with_one_sentence(package, index, data):
    folder, _ = run(package)
    index(next(folder.rglob("*outer*.nbi")))
    data(next(folder.rglob("*inner*.nbc")))
    code = "import logging\nlogging.basicConfig(level='WARNING', filename='{}')\n" + RUN
    logs = [package / "first.log", package / "second.log"]
    for log in logs:
        assert run(package, code.format(log)) == (folder, 7.0)
    first, second = (log.read_text().splitlines() for log in logs)
    assert len(first) == 1 and "damaged: it is made anew" in first[0], first
    assert second == []


@pytest.mark.thorough
def test_cache_of_another_processor_is_not_used(package):
    folder, _ = run(package)
    assert run(package, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="") == (folder, 7.0)
