# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A build is never changed while a program uses it."""

import fcntl
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from pip_ros import environment
from pip_ros import prepare as module
from pip_ros.environment import with_home
from pip_ros.errors import SetupError
from pip_ros.paths import Paths

BOUND = 60.0  # s


@pytest.fixture
def paths(tmp_path, monkeypatch):
    (tmp_path / "arm").write_text("")
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.setattr(module, "run_environment", lambda _: {"made": "here"})
    return Paths(tmp_path, tmp_path / ".venv")


def hold_shared(paths):
    descriptor = os.open(paths.repository / "arm", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def test_ready_build_is_used_concurrently(paths, monkeypatch):
    monkeypatch.setattr(module, "is_ready", lambda _: True)
    monkeypatch.setattr(module, "make", lambda *_: pytest.fail("made although ready"))
    other = hold_shared(paths)
    assert module.prepare(paths)["made"] == "here"
    os.close(other)


def test_build_waits_for_programs_using_the_old_one(paths, monkeypatch, capsys):
    other = hold_shared(paths)
    built = threading.Event()
    waiting = threading.Event()
    flock = fcntl.flock

    def watched(descriptor, operation):
        if operation == fcntl.LOCK_EX:
            waiting.set()
        flock(descriptor, operation)

    monkeypatch.setattr(module.fcntl, "flock", watched)
    monkeypatch.setattr(module, "is_ready", lambda _: built.is_set())
    monkeypatch.setattr(module, "make", lambda *_: built.set())
    thread = threading.Thread(target=module.prepare, args=(paths,))
    thread.start()
    assert waiting.wait(BOUND)
    assert not built.is_set()
    os.close(other)
    thread.join(BOUND)
    assert built.is_set()
    assert "waiting" in capsys.readouterr().err


def test_lock_survives_exec(paths, monkeypatch):
    monkeypatch.setattr(module, "is_ready", lambda _: True)
    opened = []
    real = os.open
    monkeypatch.setattr(module.os, "open", lambda *a: opened.append(real(*a)) or opened[-1])
    module.prepare(paths)
    assert os.get_inheritable(opened[0])


def test_clone_of_another_user_is_refused_at_once_and_left_alone(paths, monkeypatch):
    paths.venv.mkdir()
    (paths.venv / "kept").touch()
    monkeypatch.setattr(module, "is_ready", lambda _: False)
    monkeypatch.setattr(module, "make", lambda *_: pytest.fail("made in another user's clone"))
    monkeypatch.setattr(module.os, "access", lambda folder, _: folder != paths.venv)
    whose = module.owner(paths.venv)
    with pytest.raises(SetupError, match=f"belongs to {whose} .* clone of your own"):
        module.prepare(paths, again=True)
    assert (paths.venv / "kept").exists()


def test_writable_clone_of_another_user_is_built(paths, monkeypatch):
    paths.venv.mkdir()
    made = []
    monkeypatch.setattr(module, "is_ready", lambda _: bool(made))
    monkeypatch.setattr(module, "make", lambda *_: made.append(True))
    monkeypatch.setattr(module.os, "geteuid", lambda: paths.venv.stat().st_uid + 12345)
    monkeypatch.setattr(module.os, "access", lambda *_: True)  # by its group
    assert module.prepare(paths)["made"] == "here" and made


def test_clone_of_another_user_that_is_ready_is_used(paths, monkeypatch):
    monkeypatch.setattr(module, "is_ready", lambda _: True)
    monkeypatch.setattr(module.os, "geteuid", lambda: 12345)
    assert module.prepare(paths)["made"] == "here"


def test_home_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    assert with_home({"HOME": str(tmp_path), "A": "b"}) == {"HOME": str(tmp_path), "A": "b"}
    user = SimpleNamespace(pw_dir=str(tmp_path / "own"))
    monkeypatch.setattr(environment.pwd, "getpwuid", lambda _: user)
    for given in ({}, {"HOME": ""}, {"HOME": "/nonexistent"}):
        assert Path(with_home(given)["HOME"]).is_dir()
    (tmp_path / "own").mkdir()
    assert with_home({})["HOME"] == str(tmp_path / "own")


@pytest.mark.parametrize("name", ["a, b", "it's", "a:b", "5%"])
def test_path_that_cannot_be_built_in_is_refused_at_once(paths, tmp_path, name):
    clone = tmp_path / name
    clone.mkdir()
    (clone / "arm").touch()
    with pytest.raises(SetupError, match="move the"):
        module.prepare(Paths(clone, clone / ".venv"))
    assert [file.name for file in clone.iterdir()] == ["arm"]


@pytest.mark.parametrize("name", ["dossier é ü", "a_b-c+d@e=f~1.0"])
def test_path_with_blanks_and_letters_of_any_language_is_fine(name):
    module.check_path(Paths(Path("/home") / name, Path("/home") / name / ".venv"))
