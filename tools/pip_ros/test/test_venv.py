# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A .venv that is missing, broken, incomplete or outdated is detected and repaired."""

import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from pip_ros import venv
from pip_ros.paths import Paths


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A .venv with a fake pip, as creating a real one takes seconds."""
    folder = tmp_path_factory.mktemp("bare") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = (folder / "lib").glob("python3.*/site-packages")
    (site / "pip.py").write_text("print('Collecting nothing')\n")
    (folder / "bin" / "pip").write_text(f"#!{folder}/bin/python3\n")
    return folder


@pytest.fixture
def paths(tmp_path, bare, monkeypatch):
    """An empty repository, in which a .venv is created by copying."""
    run = subprocess.run

    def make(command, **options):
        if command[1:3] != ["-m", "venv"]:
            return run(command, **options)
        target = venv.Path(command[3])
        shutil.copytree(bare, target, symlinks=True)
        (target / "bin" / "pip").write_text(f"#!{target}/bin/python3\n")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(venv.subprocess, "run", make)
    return Paths(tmp_path, tmp_path / ".venv")


@pytest.fixture
def requirements(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# nothing\n")
    return file


def install(paths, requirements):
    venv.install(paths, requirements, "Installing")
    assert venv.is_installed(paths, requirements)


@pytest.mark.slow
def test_venv_is_created_and_installed(tmp_path, requirements):
    install(Paths(tmp_path, tmp_path / ".venv"), requirements)


def test_missing_venv_is_not_installed(paths, requirements):
    assert not venv.is_installed(paths, requirements)


def test_installed_requirements_are_not_reinstalled(paths, requirements, monkeypatch):
    install(paths, requirements)
    monkeypatch.setattr(venv, "run_logged", lambda *_: pytest.fail("installed twice"))
    install(paths, requirements)


def test_changed_requirements_are_reinstalled(paths, requirements):
    install(paths, requirements)
    requirements.write_text("# something else\n")
    assert not venv.is_installed(paths, requirements)


def test_interrupted_installation_is_detected(paths, requirements, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(venv, "run_logged", interrupted)
        with pytest.raises(KeyboardInterrupt):
            venv.install(paths, requirements, "Installing")
    assert not venv.is_installed(paths, requirements)
    install(paths, requirements)


def test_broken_interpreter_is_replaced(paths, requirements, capsys):
    install(paths, requirements)
    paths.python.unlink()
    paths.python.write_text("#!/bin/sh\nexit 1\n")
    paths.python.chmod(0o755)
    assert not venv.is_installed(paths, requirements)
    install(paths, requirements)
    assert "creating it again" in capsys.readouterr().err


def test_cmake_files_of_the_wheels_are_mended(paths, bare):
    file = paths.venv / "share" / "x" / "xExport.cmake"
    file.parent.mkdir(parents=True)
    file.write_text(
        'set(A "/opt/python/cp310-cp310/include/python3.10;'
        '/opt/python/cp310-cp310/lib/python3.10/site-packages/numpy")\n' + venv.READS_PATHS
    )
    venv.mend_cmake_files(paths)
    text = file.read_text()
    assert "/opt/python/cp3" not in text
    assert str(paths.venv / "lib") in text
    assert "/site-packages/numpy" in text
    assert "idl_tuples ENCODING UTF-8)" in text


def test_an_interface_is_parsed_once_for_all_generators(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, names = [], {}
    names["_parser"] = SimpleNamespace(parse=lambda text: seen.append(text) or [text])
    exec("def parse(idl_string):\n" + venv.PARSES_ONCE, names)
    assert [names["parse"](text) for text in "aba"] == [["a"], ["b"], ["a"]]
    assert seen == ["a", "b"]


def test_moved_clone_is_detected(paths, requirements, capsys):
    """The programs and CMake files of a .venv contain the path where it was created."""
    install(paths, requirements)
    new = Paths(paths.repository, paths.repository / "moved")
    paths.venv.rename(new.venv)
    assert not venv.is_installed(new, requirements)
    install(new, requirements)
    assert "moved" in capsys.readouterr().err
    shebang = (new.venv / "bin" / "pip").read_text().splitlines()[0]
    assert str(new.venv) in shebang


@pytest.mark.parametrize("kind", ["file", "link", "broken link", "stamp is a folder"])
def test_damaged_venv_of_any_kind_is_made_anew(paths, requirements, tmp_path, kind):
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    if kind == "file":
        paths.venv.write_text("nothing")
    elif kind == "stamp is a folder":
        venv.stamp_file(paths, requirements).mkdir(parents=True)
    else:
        paths.venv.symlink_to(other if kind == "link" else tmp_path / "none")
    install(paths, requirements)
    assert venv.is_installed(paths, requirements)
    assert paths.venv.is_dir() and not paths.venv.is_symlink()
    assert (other / "kept").exists()


def test_deleted_package_is_noticed_and_installed_again(paths, requirements, monkeypatch, capsys):
    monkeypatch.setattr(venv, "REQUIREMENTS", requirements)
    install(paths, requirements)
    (pip,) = (paths.venv / "lib").glob("python3.*/site-packages/pip.py")
    (pip.parent / "of_the_user.py").touch()
    assert venv.is_installed(paths, requirements)
    pip.unlink()
    assert not venv.is_installed(paths, requirements)
    install(paths, requirements)
    assert "damaged" in capsys.readouterr().err
    assert pip.exists()
