# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A .venv that is missing, broken, half-finished or outdated is noticed and repaired."""

import subprocess
import sys

import pytest
from pip_ros import venv
from pip_ros.paths import Paths


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, tmp_path / ".venv")


@pytest.fixture
def requirements(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# nothing\n")
    return file


def test_nothing_there_is_not_installed(paths, requirements):
    assert not venv.is_installed(paths, requirements)


def test_install_is_complete_then_not_repeated(paths, requirements, monkeypatch):
    venv.install(paths, requirements, "Installing")
    assert venv.is_installed(paths, requirements)
    monkeypatch.setattr(venv, "run_logged", lambda *_: pytest.fail("installed twice"))
    venv.install(paths, requirements, "Installing")


def test_changed_requirements_are_installed_again(paths, requirements):
    venv.install(paths, requirements, "Installing")
    requirements.write_text("# something else\n")
    assert not venv.is_installed(paths, requirements)


def test_half_finished_installation_is_noticed(paths, requirements, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(venv, "run_logged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        venv.install(paths, requirements, "Installing")
    assert not venv.is_installed(paths, requirements)
    monkeypatch.undo()
    venv.install(paths, requirements, "Installing")
    assert venv.is_installed(paths, requirements)


def test_broken_interpreter_is_replaced(paths, requirements, capsys):
    venv.install(paths, requirements, "Installing")
    paths.python.unlink()
    paths.python.write_text("#!/bin/sh\nexit 1\n")
    paths.python.chmod(0o755)
    assert not venv.is_installed(paths, requirements)
    venv.install(paths, requirements, "Installing")
    assert "making it anew" in capsys.readouterr().err
    assert venv.is_installed(paths, requirements)


def test_build_prefix_of_the_wheels_is_rewritten(paths):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", paths.venv], check=True)
    file = paths.venv / "share" / "x" / "xExport.cmake"
    file.parent.mkdir(parents=True)
    file.write_text(
        'set(A "/opt/python/cp310-cp310/include/python3.10;'
        '/opt/python/cp310-cp310/lib/python3.10/site-packages/numpy")'
    )
    venv.rewrite_build_prefix(paths)
    text = file.read_text()
    assert "/opt/python/cp3" not in text
    assert str(paths.venv / "lib") in text
    assert "/site-packages/numpy" in text


def test_a_moved_clone_is_noticed(paths, requirements, capsys):
    """The programs and CMake files of a .venv name the place where it was made."""
    venv.install(paths, requirements, "Installing")
    new = Paths(paths.repository, paths.repository / "moved")
    paths.venv.rename(new.venv)
    assert not venv.is_installed(new, requirements)
    venv.install(new, requirements, "Installing")
    assert "moved" in capsys.readouterr().err
    shebang = (new.venv / "bin" / "pip").read_text().splitlines()[0]
    assert str(new.venv) in shebang
