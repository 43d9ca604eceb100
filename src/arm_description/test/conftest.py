# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures: a small robot file, random tables, URDF kinematics by Pinocchio."""

import os
from pathlib import Path

import pytest

from arm_description import DescriptionError, parse_robot

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture
def every_key():
    return PACKAGE / "test/robot_file/every_key.yaml"


@pytest.fixture
def package():
    return PACKAGE


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as ament finds it, without a build."""
    pytest.importorskip("ament_index_python", reason="xacro finds packages with it")
    share = tmp_path / "share"
    index = share / "ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "arm_description").touch()
    (share / "arm_description").symlink_to(PACKAGE)
    others = os.environ.get("AMENT_PREFIX_PATH", "")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}{os.pathsep}{others}")
    return share / "arm_description"


@pytest.fixture(scope="session")
def refusal():
    """Return a function that parses an invalid robot file and returns its error."""

    def error_of(text, file="robot"):
        with pytest.raises(DescriptionError) as caught:
            parse_robot(text, file)
        assert str(caught.value).startswith(file) and "\n" not in str(caught.value)
        return caught.value

    return error_of


@pytest.fixture(scope="session")
def published_urdf():
    """Return a function that reads a manufacturer's URDF in the package example-robot-data."""
    pinocchio = pytest.importorskip("pinocchio")
    prefixes = [*Path(pinocchio.__file__).parents]
    prefixes += map(Path, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    shares = [prefix / "share/example-robot-data/robots" for prefix in prefixes]
    share = next(filter(Path.is_dir, shares))
    return lambda path: (share / path).read_text()
