# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Exactly the locked versions are installed, and the lock files are complete."""

import re
import subprocess
import sys
from importlib.metadata import distributions

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip_ros import lock, venv
from pip_ros.paths import REPOSITORY, TOOLS

ENTRY = re.compile(r"^([\w.-]+)==([\w.]+)(?: ; (.+?))? \\\n((?:    .*\n?)+)", re.MULTILINE)
LOCKS = (venv.REQUIREMENTS, venv.TEST_REQUIREMENTS)
OURS = re.compile(r"arm[-_]|(call-ik|control-msgs|tf2-msgs|pip|wheel)$")


def lines(file):
    """Return the requirements in a file, without comments."""
    return [line for line in file.read_text().splitlines() if line and line[0] != "#"]


def locked(place=None):
    """Return name -> version of all locked packages, for one Python or for this one."""
    pins = [Requirement(pin) for file in LOCKS for pin in lock.pins(file)]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(place)
    }


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.name)
def test_every_entry_has_a_version_and_a_hash(file):
    entries = ENTRY.findall(file.read_text())
    assert len(entries) == len(lock.pins(file)) > 40
    for _, _, marker, hashes in entries:
        assert re.fullmatch(r"(    --hash=sha256:[0-9a-f]{64}( \\)?\n?)+", hashes)
        assert not marker or Marker(marker)


@pytest.mark.parametrize("place", lock.PLACES, ids=lambda place: place["python_full_version"])
def test_every_requirement_is_locked_for_every_python(place):
    versions = locked(place)
    for file in LOCKS:
        asked = [Requirement(line) for line in lines(file.with_suffix(".txt"))]
        for one in asked:
            if one.marker is None or one.marker.evaluate(place):
                version = versions.get(canonicalize_name(one.name), "none")
                assert one.specifier.contains(version), f"{one}: run tools/pip_ros/lock.py"


def test_each_package_is_locked_once_per_python():
    for place in lock.PLACES:
        pins = [Requirement(pin) for file in LOCKS for pin in lock.pins(file)]
        here = {str(p).partition(";")[0] for p in pins if not p.marker or p.marker.evaluate(place)}
        assert len(here) == len(locked(place))


def test_installed_packages_match_the_lock():
    installed = {canonicalize_name(d.metadata["Name"]): d.version for d in distributions()}
    versions = locked()
    assert versions.items() <= installed.items()
    inside = {name for name in installed if f"ros-{name}" in versions}  # a wheel of ROS holds it
    others = {name for name in installed if not OURS.match(name)} - inside - versions.keys()
    assert not others, "not locked; ./arm setup --again makes .venv without them"


def test_pip_check_passes():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("wheel", "whether"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
        ("a-1-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl", True),
        ("a-1-cp39-cp39-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("a-1-cp312-cp312-manylinux_2_28_aarch64.whl", False),
        ("a-1-cp312-cp312-win_amd64.whl", False),
        ("a-1-cp312-cp312-macosx_11_0_x86_64.whl", False),
        ("a-1.tar.gz", False),
    ],
)
def test_only_usable_wheels_are_kept(wheel, whether):
    assert lock.fits(wheel) is whether


def test_lock_entries_are_filtered_and_ordered():
    found = dict(
        lock.entries(
            {
                "packages": [
                    {
                        "name": "a",
                        "version": "1",
                        "wheels": [
                            {"name": "a-1-py3-none-any.whl", "hashes": {"sha256": "ff"}},
                            {
                                "url": "https://x/a-1-cp310-cp310-win32.whl",
                                "hashes": {"sha256": "1"},
                            },
                        ],
                    },
                    {"name": "b", "version": "2", "marker": "sys_platform == 'win32'"},
                    {
                        "name": "c",
                        "version": "3",
                        "marker": "python_full_version < '3.11'",
                        "sdist": {"url": "https://x/c-3.tar.gz", "hashes": {"sha256": "0a"}},
                    },
                ]
            }
        )
    )
    assert found == {
        "a==1": "a==1 \\\n    --hash=sha256:ff",
        "c==3 ; python_full_version < '3.11'": (
            "c==3 ; python_full_version < '3.11' \\\n    --hash=sha256:0a"
        ),
    }


def test_documents_are_built_with_locked_versions():
    files = ("requirements.txt", "requirements-test.txt")
    pins = {line for file in files for line in lines(TOOLS / file)}
    asked = lines(REPOSITORY / "docs/requirements.txt")
    assert asked and set(asked) <= pins
