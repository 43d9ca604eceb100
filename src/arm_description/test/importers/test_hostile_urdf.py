# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Any URDF becomes a robot file that reads back, or one sentence; never a traceback."""

import random
import re
from pathlib import Path

import pytest
from arm_description.commands.convert import urdf2dh
from arm_description.importers.urdf import import_urdf
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.file import scaled_urdf

from arm_description import DescriptionError, parse_robot

REFUSED = ("mimiclimits", "mimicmissing", "mm")  # already without damage
CASES = sorted(
    path for path in (Path(__file__).parent / "cases").glob("*.urdf") if path.stem not in REFUSED
)
RUNS = 300
NUMBERS = (
    "nan", "inf", "-1e400", "1e300", "-0", "", "0", "1e-320", "-5", "1e9", "17", "3,5", "١",
    "0x10", "-1e-9", "1e-9", "20.1", "1570", "1e154", "6.283185307179586", "62.9",
    "1.7976931348623157e308",
)  # fmt: skip
NAMES = (
    "", " ", "a b", "base", "pi", "sin", "2", "-", "a-b", "a.b", "é", "\u202e", "x" * 300,
    "{", "#", "gripper", "payload", "flange_fixed", "mount", "tool", "None", "null", "~", "1e3",
    "a: b", "'",
    "theta", "rest", "base_link", "tool0", "j1", "j2", "true", "*a", "&amp;b", "&lt;",
    "dh_0_fixed",
)  # fmt: skip
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
ELEMENT = re.compile(r"<(origin|axis|limit|mimic|inertia|mass|inertial)[^>]*/>")


class Mutator:
    """Damages the text of a URDF in some places."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def mutated(self, text):
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            change = self.rng.choice(
                (self.number, self.number, self.name, self.rename, self.drop, self.kind, self.copy)
            )
            text = change(text)
        return text

    def _attributes(self, text, keys):
        return [found for found in ATTRIBUTE.finditer(text) if (found[1] in keys)]

    def _replaced(self, text, found, value):
        return text[: found.start(2)] + value + text[found.end(2) :]

    def number(self, text):
        """Replace one number of an attribute."""
        keys = ("xyz", "rpy", "lower", "upper", "velocity", "effort", "multiplier", "offset")
        found = self.rng.choice(self._attributes(text, (*keys, "value", "ixx", "iyy", "izz")))
        words = found[2].split() or [""]
        words[self.rng.randrange(len(words))] = self.rng.choice(NUMBERS)
        return self._replaced(text, found, " ".join(words))

    def name(self, text):
        """Replace one name, which others may still refer to."""
        found = self.rng.choice(self._attributes(text, ("name", "joint", "link")))
        return self._replaced(text, found, self.rng.choice(NAMES))

    def rename(self, text):
        """Replace a name everywhere."""
        old = self.rng.choice(self._attributes(text, ("name",)))[2]
        return text.replace(f'"{old}"', f'"{self.rng.choice(NAMES)}"')

    def drop(self, text):
        """Delete an element."""
        found = list(ELEMENT.finditer(text))
        if not found:
            return text
        gone = self.rng.choice(found)
        return text[: gone.start()] + text[gone.end() :]

    def kind(self, text):
        """Change the type of a joint."""
        found = self._attributes(text, ("type",))
        kinds = ("fixed", "continuous", "prismatic", "revolute", "floating", "planar", "ball", "")
        return self._replaced(text, self.rng.choice(found), self.rng.choice(kinds))

    def copy(self, text):
        """Repeat a part of the text somewhere."""
        size = self.rng.randrange(1, 200)
        start, end = self.rng.randrange(len(text)), self.rng.randrange(len(text))
        return text[:end] + text[start : start + size] + text[end:]


def assert_a_sentence(error):
    text = str(error)
    assert "\n" not in text
    assert "Traceback" not in text
    assert not re.search(r":\d+: ", text), text  # no line of a file that was never written


@pytest.mark.parametrize("tenth", range(10))
def test_a_hostile_urdf_gets_a_robot_file_or_a_sentence(tenth):
    read = 0
    for seed in range(tenth * RUNS // 10, (tenth + 1) * RUNS // 10):
        mutator = Mutator(seed)
        text = mutator.mutated(mutator.rng.choice(CASES).read_text(encoding="utf-8"))
        options = mutator.rng.choice(({}, {"tip": "l2"}, {"convention": "modified"}))
        try:
            if mutator.rng.random() < 0.2:
                text = scaled_urdf(text, 0.001)
            found = import_urdf(text, **options)
            assert parse_robot(robot_yaml(found.model, notes=found.notes)).n == found.model.n
            found.model.to_urdf()
            read += 1
        except DescriptionError as error:
            assert_a_sentence(error)
    assert read >= 5


def test_the_command_answers_in_one_line(tmp_path, capsys):
    path = tmp_path / "arm.urdf"
    for seed in range(40):
        mutator = Mutator(1000 + seed)
        path.write_text(mutator.mutated(CASES[seed % len(CASES)].read_text(encoding="utf-8")))
        capsys.readouterr()
        if urdf2dh([str(path)]) == 1:
            assert_a_sentence(capsys.readouterr().err.strip())
