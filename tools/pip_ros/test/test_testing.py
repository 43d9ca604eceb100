# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm test: its checks, its selections of tests, and what it does not repeat."""

import pytest
from pip_ros import testing
from pip_ros.paths import Paths


@pytest.fixture
def paths(tmp_path, monkeypatch):
    for name in ("arm", "conftest.py", "pyproject.toml"):
        (tmp_path / name).write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / ".venv").mkdir()
    (tmp_path / "src" / "module.py").write_text("X = 1")
    return Paths(tmp_path, tmp_path / ".venv")


@pytest.fixture
def ran(monkeypatch):
    """The checks that ran; those named in `failing` fail."""
    names, failing = [], set()

    def check(python):
        return [(name, ["false" if name in failing else "true"]) for name in ("one", "two")]

    run = testing.subprocess.run
    monkeypatch.setattr(testing, "checks", check)
    monkeypatch.setattr(
        testing.subprocess, "run", lambda command, **how: names.append(command) or run(command)
    )
    return names, failing


def test_passed_checks_are_repeated_only_after_a_change(paths, ran):
    names, _ = ran
    assert testing.checked({}, paths) and len(names) == 2
    assert testing.checked({}, paths) and len(names) == 2
    (paths.repository / "src" / "module.py").write_text("X = 2")
    assert testing.checked({}, paths) and len(names) == 4


def test_failed_checks_are_repeated(paths, ran):
    names, failing = ran
    failing.add("one")
    assert not testing.checked({}, paths)
    assert not testing.checked({}, paths)
    assert len(names) == 2  # nothing after the first that fails


CHOSEN = [
    ([], ["-m", "not thorough"]),
    (["--all"], []),
    (["--fast", "-x"], ["--cores", "-m", "not system and not slow and not thorough", "-x"]),
    (["src/arm_tasks", "-k", "nut"], ["src/arm_tasks", "-k", "nut"]),
]


@pytest.mark.parametrize(("typed", "chosen"), CHOSEN)
def test_each_kind_of_run_selects_its_tests(monkeypatch, typed, chosen):
    monkeypatch.setattr(testing, "become", lambda command, environment: command)
    monkeypatch.setattr(testing, "checked", lambda *_: True)
    monkeypatch.setattr(testing.venv, "install", lambda *_: None)
    built = []
    monkeypatch.setattr(testing.messages_for_tests, "prefix", built.append)
    monkeypatch.setattr(testing.shutil, "which", lambda name: name)
    monkeypatch.setattr(testing, "can_be_two_machines", lambda: True)
    monkeypatch.setattr(testing, "changed_folders", lambda _: [])
    command = testing.run({"ARM_VENV": "here"}, typed)
    parallel = [] if typed == chosen else ["-n", str(testing.WORKERS["".join(typed[:1])])]
    begin = ["-m", "pytest", *testing.SETTINGS, *parallel]
    assert command[1 : 1 + len(begin)] == begin
    assert [word for word in command[1 + len(begin) :] if word not in testing.PARALLEL] == [
        word for word in chosen if word not in testing.PARALLEL
    ]
    assert bool(built) == (typed in ([], ["--all"]))


@pytest.mark.parametrize(("typed", "chosen"), CHOSEN)
def test_each_kind_of_run_selects_the_same_tests_with_a_sourced_ros(monkeypatch, typed, chosen):
    commands = []
    done = testing.subprocess.CompletedProcess([], 3)
    monkeypatch.setattr(
        testing.subprocess, "run", lambda command, **_: commands.append(command) or done
    )
    assert testing.run({}, typed) == 3
    (command,) = commands
    if typed == chosen:  # pytest with arguments
        assert command[1:] == ["-m", "pytest", *testing.SETTINGS, *chosen]
    else:
        words = testing.shlex.split(command[2].partition(";")[0])
        assert words[:2] == ["colcon", "test"]
        assert words[words.index("--pytest-args") + 1 :] == chosen


def test_fast_selects_packages_changed_since_the_last_commit(tmp_path):
    for name in ("src/one", "src/two", "tools/three", "docs/four"):
        (tmp_path / name / "test").mkdir(parents=True)
        (tmp_path / name / "module.py").write_text("X = 1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        testing.subprocess.run([*git, *words], check=True)
    paths = Paths(tmp_path, tmp_path / ".venv")
    assert testing.changed_folders(paths) == []
    (tmp_path / "src/two/module.py").write_text("X = 2")
    (tmp_path / "tools/three/new.py").write_text("")
    (tmp_path / "docs/four/module.py").write_text("")
    assert testing.changed_folders(paths) == ["src/two", "tools/three"]


def test_fast_selects_everything_without_git(tmp_path):
    assert testing.changed_folders(Paths(tmp_path, tmp_path / ".venv")) == []
