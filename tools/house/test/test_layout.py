# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The layout of src/ keeps its rules, and each rule detects violations."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from house import layout

REPOSITORY = Path(__file__).resolve().parents[3]
MODULE = "# A module.\n"
LINT_IMPORTS = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
RUFF = [sys.executable, "-m", "ruff", "check", "-q"]


def test_folders_have_a_limited_number_of_entries():
    full = {str(p): n for p, n in layout.entries().items() if n > layout.MOST_ENTRIES}
    assert not full


def test_number_and_length_of_modules_are_limited():
    found = layout.modules()
    assert len(found) <= layout.MOST_MODULES
    assert not [str(p) for p in found if layout.lines(p) > layout.MOST_LINES]


def test_class_names_are_unique():
    assert not layout.repeated_classes()


@pytest.fixture
def house(tmp_path):
    """A source tree with one package of one module."""
    package = tmp_path / "arm_x" / "arm_x"
    package.mkdir(parents=True)
    for name in ("__init__.py", "a.py"):
        (package / name).write_text(MODULE)
    return tmp_path


def test_overfull_folder_is_detected(house):
    package = house / "arm_x" / "arm_x"
    folder = package / "sub"
    folder.mkdir()
    (folder / "__init__.py").write_text(MODULE)
    for i in range(layout.MOST_ENTRIES - 1):
        (package / f"m{i}.py").write_text(MODULE)
    assert layout.entries(house)[package] == layout.MOST_ENTRIES + 1


def test_repeated_class_name_is_detected(house):
    for name in ("a", "b"):
        (house / "arm_x" / "arm_x" / f"{name}.py").write_text("class Thing:\n    pass\n")
    assert set(layout.repeated_classes(house)) == {"Thing"}


BROKEN = {
    "arm_common/arm_common/errors.py": ("import arm_tasks.errors", "Packages depend one way"),
    "arm_tasks/arm_tasks/errors.py": (
        "import arm_tasks.scene.scene",
        "No circle among the files or folders of a folder",
    ),
    "arm_tasks/arm_tasks/world/nut_world.py": (
        "import arm_tasks.commands.check",
        "Nothing imports commands/",
    ),
    "arm_viewer/arm_viewer/scene/store.py": (
        "import arm_common.ros.tf",
        "Only programs import ros/",
    ),
    "arm_hardware/arm_hardware/driver.py": (
        "import arm_hardware.simulation.faults",
        "Production does not import simulation/",
    ),
}


def lint_imports(folder):
    """Run import-linter over the packages in a folder."""
    return subprocess.run(
        [*LINT_IMPORTS, "--config", REPOSITORY / "pyproject.toml"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def packages(tmp_path):
    """A folder with links to all packages."""
    pytest.importorskip("importlinter", reason="import-linter needs Python 3.11")
    for package in layout.SOURCE.glob("arm_*/arm_*"):
        (tmp_path / package.name).symlink_to(package)
    return tmp_path


def test_imports_keep_the_contracts(packages):
    answer = lint_imports(packages)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("file", BROKEN)
def test_forbidden_import_breaks_its_contract(file, packages):
    line, contract = BROKEN[file]
    name, _, inside = file.partition("/")[2].partition("/")
    (packages / name).unlink()
    shutil.copytree(layout.SOURCE / name / name, packages / name)
    broken = packages / name / inside
    broken.write_text(f"{broken.read_text()}\n{line}\n")
    answer = lint_imports(packages)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert f"{contract} BROKEN" in answer.stdout


def test_ruff_rejects_rclpy_outside_ros_folders(tmp_path):
    inside = REPOSITORY / "src/arm_tasks/arm_tasks/ros/messages.py"
    for place, code in ((inside, 0), (inside.parents[1] / "errors.py", 1)):
        answer = subprocess.run(
            [*RUFF, "--select", "TID251", "--stdin-filename", str(place), "-"],
            input="import rclpy\n",
            capture_output=True,
            text=True,
        )
        assert answer.returncode == code, answer.stdout
