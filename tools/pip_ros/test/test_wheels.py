# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Wheels of the packages in an environment without ROS: the library, and the program `arm`."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from arm_testing.pages.viewer_client import CAMERA, connected, decoded, encoded
from house.layout import ROS
from pip_ros.paths import REPOSITORY

pytestmark = pytest.mark.thorough
PACKAGES = [p.parent.name for p in sorted((REPOSITORY / "src").glob("*/setup.py"))]
PACKAGES.remove("arm_testing")
TESTING = str(REPOSITORY / "src" / "arm_testing")
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def run(*command, cwd=None, **environment):
    """Run a command with nothing of this environment but these variables."""
    keep = {"PATH": os.defpath, "HOME": str(cwd or "/nonexistent"), "LANG": "C", **environment}
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env=keep, capture_output=True, text=True
    )


def pip(*words):
    command = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *words]
    environment = {**os.environ, "PYTHONPATH": ""}  # whose packages are not to be found
    command = [str(word) for word in command]
    subprocess.run(command, env=environment, check=True, capture_output=True)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Return the Python of an environment with the wheels, and the libraries of this one."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in PACKAGES:  # built there: a build writes beside its source
        shutil.copytree(
            REPOSITORY / "src" / name,
            folder / name,
            ignore=shutil.ignore_patterns("build", "*.egg-info", "test", "__pycache__", "*.so"),
        )
    sources = [folder / name for name in PACKAGES]
    pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder, *sources)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python3"
    wheels = folder.glob("*.whl")
    pip("--python", python, "install", "--no-deps", "--no-index", "--find-links", folder, *wheels)
    site = next((folder / "venv" / "lib").glob("python3*/site-packages"))
    for library in Path(sysconfig.get_path("purelib")).iterdir():
        if (
            not ROS.fullmatch(library.name.partition(".")[0])
            and not (site / library.name).exists()
        ):
            (site / library.name).symlink_to(library)
    return python


def arm_command(python, *words):
    """Return `arm` as on a system that has neither ROS nor what POSIX alone has."""
    return [str(python), "-m", "arm_testing.programs.other_systems", *map(str, words)]


def arm(python, folder, *words):
    return run(*arm_command(python, *words), cwd=folder, PYTHONPATH=TESTING)


def test_blocks_of_the_readme_run_with_the_library(python, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        done = run(python, "-c", block, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Solved")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("describe", "nut_arm"), "nut_arm"),
        (("fk", "nut_arm", "10", "20", "30", "40"), "tool0 in base_link: xyz 136.65"),
        (("ik", "nut_arm", "0.15", "0", "0.18"), "deg"),
        (("check", "nut_transfer"), "Fine: all 7 steps"),
    ],
)
def test_answers_need_neither_ros_nor_posix(python, tmp_path, words, output):
    done = arm(python, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert output in done.stdout


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("draw", "nut_arm"), "arm.svg"),
        (("dh2urdf", "nut_arm"), "arm.urdf"),
        (("explain", "planar2"), "arm.md"),
        (("dh2mjcf", "nut_arm"), "arm.xml"),
    ],
)
def test_files_need_neither_ros_nor_posix(python, tmp_path, words, file):
    for _ in range(2):  # a new file, then over it
        done = arm(python, tmp_path, *words, "-o", file)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / file).stat().st_size > 500


def test_table_of_a_urdf_comes_back(python, tmp_path):
    for words in (("dh2urdf", "scara", "-o", "a.urdf"), ("urdf2dh", "a.urdf", "-o", "b.yaml")):
        done = arm(python, tmp_path, *words)
        assert done.returncode == 0, done.stderr
    assert "scara" in arm(python, tmp_path, "describe", "b.yaml").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("demo",), "arm demo needs ROS 2, "),
        (("teleop",), "arm teleop needs ROS 2, "),
        (("veiw",), "there is no program 'veiw': did you mean 'view'?"),
        (("describe", "nosuch"), "'nosuch'"),
    ],
)
def test_what_does_not_work_is_said_in_a_sentence(python, tmp_path, words, sentence):
    done = arm(python, tmp_path, *words)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_view_shows_the_robot_in_a_browser(python, tmp_path):
    command = arm_command(python, "view", "puma560", "--viewer-port", "0")
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": TESTING}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as view:
        try:
            address = view.stdout.readline().removeprefix("Browser view: http://").strip()
            with connected(address) as socket:
                socket.send(encoded(CAMERA))
                labels = set()
                while "waist [°]" not in labels:
                    messages = decoded(socket.recv(timeout=60.0))
                    labels |= {m.get("props", {}).get("label") for m in messages}
        finally:
            view.send_signal(signal.SIGINT)
    assert view.returncode == 0
