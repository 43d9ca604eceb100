# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Systemd units: read, verified, and their commands run as systemd would."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

_ROS2 = """#!/bin/bash
if [ "$1 $2" = "pkg prefix" ]; then echo {prefix}; else printf "%s\\n" "$@"; fi
"""


def service(unit: Path) -> dict[str, str]:
    """Return the last value of each key of the section Service."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    parser.optionxform = str
    # a backslash at the end of a line goes on with the next (systemd.syntax)
    parser.read_string(unit.read_text().replace("\\\n", " "))
    return dict(parser["Service"])


def defaults(unit: Path) -> dict[str, str]:
    """Return the variables that a unit sets, and their values."""
    lines = re.findall(r"^Environment=(.*)", unit.read_text(), re.MULTILINE)
    pairs = [word.partition("=") for line in lines for word in shlex.split(line)]
    return {name: value for name, _, value in pairs}


def verify(*units: Path) -> None:
    """Assert that systemd accepts the units, or skip the test where it is not installed."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed: the unit is only read, not verified")
    done = subprocess.run([analyze, "verify", *units], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "arm-" in line]
    assert (done.returncode, ours) == (0, [])  # the machine's other units are looked at, too


def words_of(command: str, **values: str) -> list[str]:
    """Return the words of a command of a unit, with its variables and specifiers replaced."""
    return [
        re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], word)
        .replace("$$", "$")
        .replace("%%", "%")
        for word in shlex.split(command)
    ]


def arguments(command: str, program: str, folder: Path, **values: str) -> list[str]:
    """Run a command of a unit with programs that only print their arguments; return these.

    Args:
        command: the command.
        program: the executable that it starts, below the prefix of its package.
        folder: an empty folder.
        values: the variables of the unit.
    """
    prefix = folder / "with space"
    file = prefix / "lib" / program
    file.parent.mkdir(parents=True)
    file.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n')
    ros2 = folder / "bin/ros2"
    ros2.parent.mkdir()
    ros2.write_text(_ROS2.format(prefix=shlex.quote(str(prefix))))
    for script in (file, ros2):
        script.chmod(0o755)
    setup = folder / "its setup.bash"
    setup.write_text(f"export PATH={ros2.parent}:$PATH\n")
    words = words_of(command, **values | {"ARM_SETUP": str(setup)})
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
