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
PACKAGES = {path.name for path in layout.package_files("") if path.is_dir()}
LINT_IMPORTS = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]


def test_folders_have_a_limited_number_of_entries():
    full = {str(p): n for p, n in layout.entries().items() if n > layout.MOST_ENTRIES}
    assert not full


def test_length_of_modules_is_limited():
    found = layout.modules()
    assert {path.relative_to(layout.SOURCE).parts[1] for path in found} == PACKAGES
    assert len(PACKAGES) * 10 < len(found)
    assert not [str(p) for p in found if layout.lines(p) > layout.MOST_LINES]


def test_class_names_are_unique():
    assert not layout.repeated_classes()


def test_only_ros_folders_import_ros():
    assert not layout.ros_imports()


def test_ros_and_commands_are_top_folders_of_a_package():
    assert not layout.nested_top_folders()


def test_contracts_name_all_packages():
    tomllib = pytest.importorskip("tomllib", reason="tomllib needs Python 3.11")
    linter = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    (circles,) = (c for c in linter["contracts"] if c["type"] == "acyclic_siblings")
    assert set(linter["root_packages"]) == set(circles["ancestors"]) == PACKAGES


@pytest.fixture
def house(tmp_path):
    """A source tree with one package of one module, in a checkout below a folder "test"."""
    source = tmp_path / "test" / "src"
    package = source / "arm_x" / "arm_x"
    package.mkdir(parents=True)
    for name in ("__init__.py", "a.py"):
        (package / name).write_text(MODULE)
    return source


def test_only_files_of_the_package_are_modules(house):
    for folder in ("test", "launch", "examples"):
        (house / "arm_x" / folder).mkdir()
        (house / "arm_x" / folder / "b.py").write_text(MODULE)
    assert layout.modules(house) == [house / "arm_x" / "arm_x" / "a.py"]


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


@pytest.mark.parametrize(
    "line",
    [
        "import rclpy.qos",
        "from std_msgs.msg import Empty",
        "from std_srvs import srv",
        "from lifecycle_msgs.srv import GetState",
        "from composition_interfaces import srv",
        "import tf2_ros",
        "import rosidl_runtime_py",
        "import launch_ros.actions",
        "def f():\n    import ament_index_python",
    ],
)
@pytest.mark.parametrize("file", ["__init__.py", "a.py", "planning/ros/x.py", "test/x.py"])
def test_import_of_ros_is_detected_outside_the_top_ros_folder(house, file, line):
    for place, found in (
        (house / "arm_x" / "arm_x" / file, 1),
        (house / "arm_y/arm_y/ros/x.py", 0),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{line}\n")
        assert len(layout.ros_imports(house)) == found
        place.write_text(MODULE)


@pytest.mark.parametrize("name", sorted(layout.TOP_FOLDERS))
def test_nested_top_folder_is_detected(house, name):
    package = house / "arm_x" / "arm_x"
    (package / name).mkdir()
    assert not layout.nested_top_folders(house)
    (package / "planning" / name).mkdir(parents=True)
    assert layout.nested_top_folders(house) == [package / "planning" / name]


BROKEN = {
    "arm_common/arm_common/errors.py": ("import arm_tasks.errors", "Packages depend one way"),
    "arm_tasks/arm_tasks/errors.py": (
        "import arm_tasks.scene.scene",
        "No circle among the files or folders of a folder",
    ),
    "arm_tasks/arm_tasks/scene/scene.py": (
        "import arm_tasks.commands.check",
        "Nothing imports commands/",
    ),
    "arm_viewer/arm_viewer/scene/store.py": (
        "import arm_common.ros.tf",
        "Only programs import ros/",
    ),
    "arm_hardware/arm_hardware/driver.py": (
        "import arm_simulation.emulation.board",
        "Packages depend one way",
    ),
    "arm_studio/arm_studio/panels/symbols.py": (
        "import arm_studio.panels.table",
        "Nothing imports a panel of the browser view: each is a plugin",
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
    for package in layout.package_files(""):
        (tmp_path / package.name).symlink_to(package)
    return tmp_path


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
