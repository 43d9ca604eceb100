# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels are compiled once per source, and never loaded from where others may write."""

from __future__ import annotations

import os
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
RUN = (
    "import pathlib, tiny\nfrom arm_common import jit\nfrom tiny.outer import outer\n"
    "print(jit.cache_folder(pathlib.Path(tiny.__file__)), outer(3.0), sep='|')\n"
)
INSTALL = RUN + "jit.finish_installation(pathlib.Path(tiny.__file__))\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two kernels, one of which calls the other."""
    folder = tmp_path / "site" / "tiny"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "inner.py").write_text(INNER.format(2.0))
    (folder / "outer.py").write_text(OUTER)
    return folder


@pytest.fixture
def read_only(package: Path) -> Path:
    """The same where nothing can be written beside the source, not even by root."""
    (package / "__pycache__").write_text("in the way")
    return package


def run(package: Path, code: str = RUN, **environment: str | None) -> tuple[Path, float]:
    """The cache folder and the result of the kernels, in a process of their own."""
    places = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None, **environment}
    env = {k: v for k, v in {**os.environ, **places}.items() if v is not None}
    env["PYTHONPATH"] = os.pathsep.join([str(package.parent), env.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    folder, result = done.stdout.strip().split("|")
    return Path(folder), float(result)


def test_kernels_are_kept_beside_the_source(package: Path) -> None:
    folder, result = run(package)
    assert result == 7.0
    assert folder.parent == package / "__pycache__"
    assert folder.name.startswith("tiny-")
    assert list(folder.rglob("*.nbc"))


def test_a_change_of_a_kernel_that_is_only_called_is_compiled(package: Path) -> None:
    before, _ = run(package)
    (package / "inner.py").write_text(INNER.format(5.0))
    after, result = run(package)
    assert result == 16.0
    assert after != before


def test_a_change_outside_of_kernels_compiles_nothing(package: Path) -> None:
    before, _ = run(package)
    (package / "plain.py").write_text("x = 1\n")
    assert run(package)[0] == before


def test_installed_read_only_they_are_kept_in_the_home_folder(
    read_only: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    folder, _ = run(read_only, HOME=str(home))
    assert folder.parent == home / ".cache"
    assert list(folder.rglob("*.nbc"))


@pytest.mark.parametrize("home", [None, "", "a file"])
def test_without_a_home_it_is_a_private_folder_among_the_temporary_ones(
    read_only: Path, tmp_path: Path, home: str | None
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = str(read_only / "inner.py") if home else home
    folder, _ = run(read_only, HOME=home, TMPDIR=str(temporary))
    assert folder.parent == temporary / f"arm-{os.getuid()}"
    assert folder.stat().st_mode & 0o077 == 0


def test_the_users_choice_comes_first(package: Path, tmp_path: Path) -> None:
    folder, _ = run(package, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))
    assert folder.parent == tmp_path / "chosen"


def test_a_folder_that_others_may_write_is_not_trusted(package: Path, tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    folder, _ = run(package, NUMBA_CACHE_DIR=str(open_to_all))
    assert folder.parent != open_to_all


def test_where_nothing_can_be_written_kernels_are_compiled_for_the_process(
    read_only: Path,
) -> None:
    code = (
        "import pathlib, tempfile\n"
        "def refuse(*_, **__): raise PermissionError('read-only')\n"
        "pathlib.Path.mkdir = tempfile.gettempdir = refuse\n"
    )
    assert run(read_only, code + RUN) == (Path("None"), 7.0)


def test_a_user_copies_what_a_read_only_installation_has_compiled(
    package: Path, tmp_path: Path
) -> None:
    installed, _ = run(package, INSTALL)
    assert installed.stat().st_mode & 0o055 == 0o055  # readable by others
    code = (
        "import tempfile\nreal = tempfile.TemporaryFile\n"
        "def refuse(*_, dir=None, **__):\n"
        f"    if str(dir).startswith({str(package)!r}): raise PermissionError('read-only')\n"
        "    return real(dir=dir)\n"
        "tempfile.TemporaryFile = refuse\n"
        "import numba\nfrom numba.core import caching\n"
        "def never(*_, **__): raise AssertionError('compiled again')\n"
        "caching.IndexDataCacheFile.save = never\n"
    )
    copied, result = run(package, code + RUN, HOME=str(tmp_path))
    assert result == 7.0
    assert copied == tmp_path / ".cache" / installed.name


def test_what_anybody_could_have_written_is_not_copied(package: Path, tmp_path: Path) -> None:
    installed, _ = run(package, INSTALL)
    installed.chmod(0o777)
    folder, _ = run(package, RUN.replace("outer(3.0)", "7.0"), HOME=str(tmp_path))
    assert folder.parent == tmp_path / ".cache"
    assert not list(folder.rglob("*.nbc"))


def test_an_installation_removes_what_belongs_to_older_sources(package: Path) -> None:
    older = package / "__pycache__" / "tiny-0123456789ab"
    older.mkdir(parents=True)
    run(package)
    assert older.exists()
    folder, _ = run(package, INSTALL)
    assert folder.exists()
    assert not older.exists()
