# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""package.xml matches the code: imports are declared, dependencies used, no field missing."""

import ast
import re
import sys
import xml.etree.ElementTree as ET

import pytest
from pip_ros.paths import REPOSITORY

PACKAGES = sorted(p.parent for p in (REPOSITORY / "src").glob("*/package.xml"))
PYTHON = [p for p in PACKAGES if (p / "setup.py").exists()]
KEYS = {"yaml": "python3-yaml", "PIL": "python3-pil", "mpl_toolkits": "python3-matplotlib"}
KEYS |= {n: f"python3-{n}" for n in ("matplotlib", "numpy", "scipy", "smbus2", "transforms3d")}
# Libraries that rosdep provides on Ubuntu 24.04 only through pip, which its Python refuses.
PYPI = {
    "adafruit_servokit": "adafruit-circuitpython-servokit",
    "board": "adafruit-circuitpython-servokit",
    "coal": "coal",
    "gpiod": "gpiod",
    "mcap": "mcap",
    "numba": "numba",
    "playwright": "playwright",
    "trimesh": "trimesh",
    "rich": "viser",  # brings it
    "viser": "viser",
    "websockets": "viser",
}
# Packages started by launch files and bringup, or called by xacro files and tests.
STARTED = {
    "arm_description": {"joint_state_publisher_gui", "robot_state_publisher", "rviz2", "xacro"},
    "arm_tasks": {"arm_hardware", "arm_viewer", "robot_state_publisher", "rviz2"},
}


# What rosdep installs by apt on Ubuntu 24.04 (noble) for keys that are no ROS packages, by
# rosdep/base.yaml and python.yaml of ros/rosdistro at 8468e88 (22 August 2026). To
# refresh, compare with these files; `apt-cache policy PACKAGE` in the image ubuntu:24.04 shows
# whether noble has a package. The workflow's job with-ros runs rosdep there.
NOBLE = {
    "liburdfdom-tools",
    *(f"python3-{name}" for name in ("hypothesis", "jsonschema", "matplotlib", "numpy", "pil")),
    *(f"python3-{name}" for name in ("pytest", "scipy", "smbus2", "transforms3d", "yaml")),
}
# Packages that jazzy/distribution.yaml releases, at the same commit.
JAZZY = {
    *("action_msgs", "ament_cmake", "ament_index_python", "builtin_interfaces"),
    *("control_msgs", "diagnostic_msgs", "geometry_msgs", "joint_state_publisher_gui", "launch"),
    *("launch_ros", "launch_testing", "lifecycle_msgs", "moveit_msgs", "rcl_interfaces", "rclpy"),
    *("robot_state_publisher", "rosgraph_msgs", "rosidl_default_generators"),
    *("rosidl_default_runtime", "rviz2", "sensor_msgs", "std_msgs", "std_srvs", "tf2_msgs"),
    *("trajectory_msgs", "unique_identifier_msgs", "visualization_msgs", "xacro"),
}


def manifest(package):
    return ET.parse(package / "package.xml").getroot()


def declared(package, *tags):
    return {e.text for e in manifest(package) if e.tag in tags}


def imported(package):
    """Return external module -> a file of the package that imports it."""
    found = {}
    for file in [*(package / package.name).rglob("*.py"), *(package / "launch").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            else:
                continue
            found |= {name.partition(".")[0]: file.name for name in names}
    own = {package.name, *sys.stdlib_module_names}
    return {name: file for name, file in found.items() if name not in own}


def name_of(package):
    return package.name


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_every_import_is_declared(package):
    known = declared(package, "depend", "exec_depend")
    text = (package / "package.xml").read_text(encoding="utf-8")
    for module, file in imported(package).items():
        if module in PYPI:
            assert re.search(rf"<!-- From PyPI[^>]*\b{PYPI[module]}\b", text), f"{file}: {module}"
        else:
            assert KEYS.get(module, module) in known, f"{file} imports {module}"


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_every_declared_dependency_is_used(package):
    used = {KEYS.get(module, module) for module in imported(package)}
    used |= STARTED.get(package.name, set())
    assert declared(package, "depend", "exec_depend") <= used


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_rosdep_finds_every_dependency_on_ubuntu(package):
    """Not python3-numba: rosdep has that key, but noble has no such package."""
    needed = {e.text for e in manifest(package) if e.tag.endswith("depend")}
    assert needed - NOBLE - JAZZY <= {other.name for other in PACKAGES}


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_test_dependencies_are_declared_only_for_tests(package):
    assert "python3-pytest" in declared(package, "test_depend")
    both = declared(package, "test_depend") & declared(package, "depend", "exec_depend")
    assert not both


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_manifest_has_all_required_fields(package):
    root = manifest(package)
    assert root.get("format") == "3"
    for field in ("name", "version", "description", "maintainer", "license"):
        assert root.findtext(field, "").strip(), field
    assert root.findtext("name") == package.name
    assert root.findtext("license") == "Apache-2.0"
    assert root.find("export/build_type") is not None


def test_all_packages_have_one_version():
    """This includes setup.py, which colcon uses for installation."""
    versions = {manifest(package).findtext("version") for package in PACKAGES}
    for package in PYTHON:
        text = (package / "setup.py").read_text(encoding="utf-8")
        versions |= set(re.findall(r'version="([^"]+)"', text))
        described = re.search(r"description=\"([^\"]+)\"", text)[1]
        assert described == manifest(package).findtext("description"), package.name
    assert len(versions) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", versions.pop())


def test_every_python_file_states_its_licence():
    files = [
        f for folder in ("src", "tools", "benchmarks") for f in (REPOSITORY / folder).rglob("*.py")
    ]
    assert len(files) > 400
    for file in files:
        head = file.read_text(encoding="utf-8")[:200]
        assert "Copyright 2026" in head, file
        assert "SPDX-License-Identifier: Apache-2.0" in head, file
