# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""package.xml matches the code: imports are declared, dependencies used, no field missing."""

import ast
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from graphlib import TopologicalSorter

import pytest
from catkin_pkg.changelog import get_changelog_from_path
from catkin_pkg.condition import evaluate_condition
from house.layout import ROS
from pip_ros.paths import REPOSITORY

PACKAGES = sorted(p.parent for p in (REPOSITORY / "src").glob("*/package.xml"))
PYTHON = [p for p in PACKAGES if (p / "setup.py").exists()]
TESTING = REPOSITORY / "src" / "arm_testing"  # imports the packages whose tests use it
PRODUCT = [p for p in PYTHON if p != TESTING]
KEYS = {"yaml": "python3-yaml", "PIL": "python3-pil", "mpl_toolkits": "python3-matplotlib"}
KEYS |= {
    n: f"python3-{n}"
    for n in ("matplotlib", "numpy", "scipy", "smbus2", "sympy", "tqdm", "transforms3d")
}
KEYS |= {n: f"python3-{n}" for n in ("hypothesis", "jsonschema", "pytest")}
# What rosdep installs through pip, if PIP_BREAK_SYSTEM_PACKAGES permits that.
PIP = {
    "adafruit_servokit": "python3-adafruit-servokit-pip",
    "board": "python3-adafruit-blinka-pip",
    "trimesh": "python3-trimesh-pip",
}
KEYS |= PIP
# What rosdep has not, or not for Ubuntu 24.04, and the package on PyPI that brings it.
PYPI = {
    "gpiod": "gpiod",
    "lz4": "mcap",
    "mcap": "mcap",
    "mujoco": "mujoco-core",
    "playwright": "playwright",
    "scservo_sdk": "feetech-servo-sdk",
    "viser": "viser",
    **dict.fromkeys(("msgspec", "rich", "websockets", "zstandard"), "viser"),
}
# Where the package on PyPI has another name than its module.
DISTRIBUTIONS = {
    "adafruit_servokit": "adafruit-circuitpython-servokit",
    "board": "Adafruit-Blinka",
    "fontTools": "matplotlib",
    "HersheyFonts": "Hershey-Fonts",
    "mpl_toolkits": "matplotlib",
    "PIL": "Pillow",
    "yaml": "PyYAML",
    **PYPI,
}
INDIRECT = {"xacro", "mujoco", "mujoco-core", "svgelements", "Hershey-Fonts"}  # import_module
TOOLS = {path.name for path in (REPOSITORY / "tools").iterdir()}
# Packages started by launch files and bringup, or called by xacro files and tests.
STARTED = {
    "arm_description": {"joint_state_publisher_gui", "robot_state_publisher", "rviz2", "xacro"},
    "arm_tasks": {"arm_hardware", "arm_viewer", "robot_state_publisher", "rviz2"},
    "arm_testing": {"ament_copyright", "ament_xmllint"},
}


# What rosdep installs by apt on Ubuntu 24.04 (noble) and 26.04 (resolute) for keys that are no ROS
# packages, by rosdep/base.yaml and python.yaml of ros/rosdistro at 8468e88 (22 August 2026). To
# refresh, compare with these files; `apt-cache policy PACKAGE` in the images ubuntu:24.04 and
# ubuntu:26.04 shows whether they have a package. The workflow's job with-ros runs rosdep in both.
NOBLE = {
    "liburdfdom-tools",
    *(f"python3-{name}" for name in ("hypothesis", "jsonschema", "matplotlib", "numpy", "pil")),
    *(f"python3-{name}" for name in ("pytest", "scipy", "smbus2", "sympy", "tqdm")),
    *("python3-dev", "python3-transforms3d", "python3-yaml"),
}
# Packages that jazzy/distribution.yaml and lyrical/distribution.yaml release, at the same commit.
RELEASED = {
    *(
        "action_msgs",
        "ament_cmake",
        "ament_copyright",
        "ament_index_python",
        "ament_xmllint",
        "builtin_interfaces",
        "coal",
    ),
    *("control_msgs", "diagnostic_msgs", "geometry_msgs", "joint_state_publisher_gui", "launch"),
    *("launch_ros", "launch_testing", "lifecycle_msgs", "moveit_msgs", "py_trees"),
    *("rcl_interfaces", "rclpy"),
    *("robot_state_publisher", "rosgraph_msgs", "rosidl_default_generators"),
    "rosidl_parser",
    *("rosidl_default_runtime", "rviz2", "sensor_msgs", "std_msgs", "std_srvs", "tf2_msgs"),
    *("trajectory_msgs", "unique_identifier_msgs", "visualization_msgs", "xacro"),
}
UBUNTU = {"jazzy": NOBLE, "lyrical": NOBLE}


def manifest(package):
    return ET.parse(package / "package.xml").getroot()


def declared(package, *tags):
    return {e.text for e in manifest(package) if e.tag in tags}


def imported(package, *folders):
    """Return external module -> a file in the package's folders that imports it."""
    found = {}
    for file in (file for folder in folders for file in (package / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            else:
                continue
            found |= {name.partition(".")[0]: file.name for name in names}
    own = {package.name, *TOOLS, *sys.stdlib_module_names}
    return {name: file for name, file in found.items() if name not in own}


def by_package(package):
    return imported(package, package.name, "launch")


def name_of(package):
    return package.name


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_every_import_is_declared(package):
    known = declared(package, "depend", "exec_depend")
    if package == TESTING:
        known |= {"xdist", *(other.name for other in PRODUCT)}
    text = (package / "package.xml").read_text(encoding="utf-8")
    for module, file in by_package(package).items():
        if module in PYPI:
            assert re.search(rf"From PyPI[^>]*\b{PYPI[module]}\b", text), f"{file}: {module}"
        else:
            assert KEYS.get(module, module) in known, f"{file} imports {module}"


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_every_import_of_a_test_is_declared(package):
    known = declared(package, "depend", "exec_depend", "test_depend")
    for module, file in imported(package, "test").items():
        assert module in PYPI or KEYS.get(module, module) in known, f"{file} imports {module}"


HELPERS = {
    ".".join(file.relative_to(TESTING).with_suffix("").parts): file
    for file in (TESTING / TESTING.name).rglob("*.py")
}


@cache
def imports_of(helper):
    """Return the external modules that a module of arm_testing imports, directly or not."""
    names, todo = set(), [helper]
    while todo:
        name = todo.pop()
        if name in HELPERS and name not in names:
            todo += modules_in(HELPERS[name])
        names.add(name)
    return {name.partition(".")[0] for name in names} - {TESTING.name}


def modules_in(file):
    """Return the modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", PRODUCT, ids=name_of)
def test_package_is_tested_with_its_own_dependencies_alone(package):
    """Also what the helpers of its tests import of ours is among them, directly or not."""
    ours, todo = {other.name for other in PACKAGES}, [package.name]
    reached = set()
    while todo:
        reached.add(name := todo.pop())
        tags = ("test_depend",) if name == package.name else ()
        needs = declared(REPOSITORY / "src" / name, "depend", "exec_depend", *tags)
        todo += needs & ours - reached
    used = 0
    for file in (package / "test").rglob("*.py"):
        for helper in HELPERS.keys() & set(modules_in(file)):
            used += 1
            assert imports_of(helper) & ours <= reached, f"{file.name}: {helper}"
    assert used


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_every_declared_dependency_is_used(package):
    used = {KEYS.get(module, module) for module in by_package(package)}
    used |= STARTED.get(package.name, set())
    assert declared(package, "depend", "exec_depend") <= used


@pytest.mark.parametrize("package", PRODUCT, ids=name_of)
def test_pip_installs_what_the_code_without_ros_imports(package):
    """The package itself and its extras; what they name is imported, or started."""
    modules = [name for name in imported(package, package.name) if not ROS.fullmatch(name)]
    needed = {DISTRIBUTIONS.get(name, name) for name in modules}
    arguments = setup_arguments(package)
    extras = arguments["extras_require"]
    brought = {name for key, names in extras.items() if key != "test" for name in names}
    others = {name for name in brought if name.startswith("arm_")}  # of packages that build on it
    brought = {re.split(r"[\[;<>=]", name)[0] for name in brought}
    listed = {re.split(r"[\[;<>=]", name)[0] for name in arguments["install_requires"]}
    assert needed <= listed | brought
    assert (listed | brought) - others <= needed | INDIRECT


SETUP = """
import json, runpy, sys, setuptools
found, sys.argv = {}, ["setup.py", "bdist_wheel"]
setuptools.setup = lambda **arguments: found.update(arguments)
runpy.run_path("setup.py")
names = "install_requires", "extras_require", "entry_points"
print(json.dumps({name: found.get(name, {}) for name in names}))
"""


@cache
def setup_arguments(package):
    """Return the arguments that setup.py passes to setup() when a wheel is built."""
    command = [sys.executable, "-c", SETUP]  # setuptools changes sys.path
    return json.loads(subprocess.run(command, cwd=package, capture_output=True, check=True).stdout)


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_package_is_built_from_links_as_by_symlink_install(package, tmp_path):
    for name in ("setup.py", package.name):
        (tmp_path / name).symlink_to(package / name)
    assert setup_arguments(tmp_path) == setup_arguments(package)


@pytest.mark.parametrize("package", PYTHON, ids=name_of)
def test_wheel_adds_no_program_but_arm(package):
    """Names such as set and ros2 on the path would hide others."""
    points = setup_arguments(package)["entry_points"]
    scripts = re.findall(r"console_scripts\]\n(.*)", points) if isinstance(points, str) else []
    assert "console_scripts" not in points or scripts == ["arm = arm_studio.commands.arm:main"]


@pytest.mark.parametrize("distro", UBUNTU)
@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_rosdep_finds_every_dependency_on_ubuntu(package, distro):
    ours = {other.name for other in PACKAGES}
    assert needed(package, ROS_DISTRO=distro, ARM_WITH_MOVEIT="1") <= (
        UBUNTU[distro] | RELEASED | ours
    )


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_rosdep_uses_pip_only_with_permission(package):
    """Otherwise it ends with an error: these Pythons are managed externally (PEP 668)."""
    permitted = needed(package, PIP_BREAK_SYSTEM_PACKAGES="1")
    assert permitted - needed(package) == permitted & set(PIP.values())


def needed(package, **environment):
    """Return all keys that rosdep installs with these environment variables."""
    elements = [e for e in manifest(package) if e.tag.endswith("depend")]
    return {e.text for e in elements if evaluate_condition(e.get("condition"), environment)}


@pytest.mark.parametrize("package", PRODUCT, ids=name_of)
def test_test_dependencies_are_declared_only_for_tests(package):
    assert "python3-pytest" in declared(package, "test_depend")
    both = declared(package, "test_depend") & declared(package, "depend", "exec_depend")
    assert not both


def test_packages_depend_in_no_circle():
    """Nor do their tests: a package can be built and tested before those that need it."""
    ours = {package.name: needed(package) for package in PACKAGES}
    order = TopologicalSorter({name: keys & ours.keys() for name, keys in ours.items()})
    assert set(order.static_order()) == ours.keys()  # raises CycleError for a circle


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_changelog_is_one_that_bloom_reads(package):
    changelog = get_changelog_from_path(str(package), package.name)
    assert changelog.package_name == package.name
    assert "Forthcoming" in (package / "CHANGELOG.rst").read_text(encoding="utf-8")


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
