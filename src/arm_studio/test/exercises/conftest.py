# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A class for the tests: a secret, names, arms of several kinds, and an arm of Craig's."""

from pathlib import Path

import pytest
from arm_studio.exercises.questions import questions_of
from arm_studio.exercises.variants import VariantMaker

from arm_description import load_robot

SECRET = b"the teacher's secret"
ARMS = ("planar2", "scara", "puma560", "ur5", "five_axis", "modified")
NAMES = ("Ada Lovelace", "Émile Borel", "王小明")
MODIFIED = """
name: modified_puma
convention: modified
units: {length: mm, angle: deg}
joints:
"""
ROWS = (
    "a: 0, alpha: 0, theta: 0, d: 0",
    "a: 0, alpha: -90, theta: 0, d: 0",
    "a: 432, alpha: 0, theta: 0, d: 149",
    "a: 20, alpha: -90, theta: 0, d: 433",
    "a: 0, alpha: 90, theta: 0, d: 0",
    "a: 0, alpha: -90, theta: 0, d: 0",
)


@pytest.fixture(scope="session")
def modified_file(tmp_path_factory) -> Path:
    """A PUMA in Craig's convention, in millimetres."""
    limits = "limits: {lower: -160, upper: 160, velocity: 90, effort: 1}"
    rows = [f"  - {{name: j{i}, type: revolute, {r}, {limits}}}" for i, r in enumerate(ROWS, 1)]
    file = tmp_path_factory.mktemp("arm") / "modified_puma.yaml"
    file.write_text(MODIFIED + "\n".join(rows) + "\n")
    return file


@pytest.fixture(scope="session")
def makers(modified_file):
    """The makers of variants by arm; each computes what its class has in common once."""
    names = {name: modified_file if name == "modified" else name for name in ARMS}
    return {name: VariantMaker(load_robot(file), SECRET) for name, file in names.items()}


@pytest.fixture(scope="session")
def variants(makers):
    """A variant of each arm."""
    return {name: maker.of(NAMES[0]) for name, maker in makers.items()}


@pytest.fixture(scope="session")
def questions(variants):
    """The questions of these variants."""
    return {name: questions_of(variant) for name, variant in variants.items()}
