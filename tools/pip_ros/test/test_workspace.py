# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Only changed packages are rebuilt, and stale files are removed."""

import json
import shutil
import subprocess
import sys

import pytest
from pip_ros import workspace
from pip_ros.paths import REPOSITORY, Paths

SITE = "lib/python3.11/site-packages"


def install(folder, name):
    for file in (f"share/{name}/package.xml", f"{SITE}/{name}/__init__.py"):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).touch()


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """A repository with one interface package and two Python packages, all built."""
    for name, file in (
        ("one_interfaces", "CMakeLists.txt"),
        ("two", "setup.py"),
        ("three", "setup.py"),
    ):
        folder = tmp_path / "src" / name
        folder.mkdir(parents=True)
        (folder / "package.xml").write_text("<package/>")
        (folder / file).write_text("")
        install(tmp_path / ".venv" / "workspace" / "install", name)
    monkeypatch.setattr(workspace, "OVERLAY", tmp_path / "overlay")
    paths = Paths(tmp_path, tmp_path / ".venv")
    stamp = {
        folder.name: workspace.fingerprint(folder) for folder in workspace.package_folders(paths)
    }
    workspace.stamp_file(paths).write_text(json.dumps(stamp))
    return paths


def test_unchanged_workspace_builds_nothing(paths):
    assert workspace.changed_packages(paths) == {}


def test_only_the_changed_package_is_built(paths):
    (paths.repository / "src" / "two" / "new.py").write_text("")
    assert set(workspace.changed_packages(paths)) == {"two"}


def test_changed_test_file_builds_nothing(paths):
    folder = paths.repository / "src" / "two" / "test"
    folder.mkdir()
    (folder / "test_x.py").write_text("")
    assert workspace.changed_packages(paths) == {}


def test_changed_interface_builds_everything(paths):
    (paths.repository / "src" / "one_interfaces" / "CMakeLists.txt").write_text("#")
    assert set(workspace.changed_packages(paths)) == {"one_interfaces", "two", "three"}


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_damaged_stamp_builds_everything(paths, damage):
    workspace.stamp_file(paths).write_text(damage)
    assert len(workspace.changed_packages(paths)) == 3


def test_interrupted_build_is_repeated(paths, monkeypatch):
    (paths.repository / "src" / "two" / "new.py").write_text("")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "run_logged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.build(paths)
    (paths.repository / "src" / "two" / "new.py").unlink()
    assert set(workspace.changed_packages(paths)) == {"two"}


def test_missing_install_folder_builds_everything(paths):
    shutil.rmtree(paths.install)
    assert len(workspace.changed_packages(paths)) == 3


def test_deleted_modules_and_commands_are_removed(paths):
    old = paths.install / "lib" / "python3.11" / "site-packages" / "two" / "old.py"
    old.write_text("")
    inner = old.parent / "inner" / "old.py"
    command = paths.install / "lib" / "two" / "old"
    for file in (inner, command):
        file.parent.mkdir()
        file.write_text("")
    workspace.remove_stale(paths, ["two"])
    assert not old.exists() and not inner.exists() and not command.exists()


def test_plain_colcon_build_ignores_the_overlay():
    assert (REPOSITORY / "tools" / "pip_ros" / "overlay" / "COLCON_IGNORE").exists()


def test_colcon_progress_counts_packages():
    progress = workspace.ColconProgress(2)
    assert progress("Starting >>> a\n") == "0 of 2 done, building a"
    assert progress("Finished <<< a [1.0s]\n") == "1 of 2 done, building nothing"


@pytest.mark.parametrize("folder", ["with a blank", "l" * 130, "plain"])
def test_programs_start_wherever_the_clone_lies(tmp_path, folder):
    paths = Paths(tmp_path, tmp_path / folder / ".venv")
    paths.python.parent.mkdir(parents=True)
    paths.python.symlink_to(sys.executable)
    program = paths.install / "lib" / "one" / "program"
    program.parent.mkdir(parents=True)
    quote = '"' if " " in folder else ""
    program.write_text(f"#!{quote}{paths.python}{quote}\nimport sys\nprint(sys.argv[1])\n")
    program.chmod(0o755)
    workspace.mend_interpreter_lines(paths)
    answer = subprocess.run([program, "two words"], capture_output=True, text=True, check=True)
    assert answer.stdout == "two words\n"


@pytest.mark.parametrize("lost", ["share/two", f"{SITE}/two"])
def test_deleted_files_of_a_package_build_it_again(paths, lost):
    shutil.rmtree(paths.install / lost)
    assert set(workspace.changed_packages(paths)) == {"two"}
