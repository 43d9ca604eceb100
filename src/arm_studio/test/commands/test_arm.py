# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command `arm`: what a word on its command line starts, and what is refused."""

import sys

import pytest
from arm_common.suggestions import install_command
from arm_studio.commands import arm


def installed(folder, name, program):
    """Install a package with a program into a folder, and return the folder."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(f"[{arm.PROGRAMS}]\n{program}\n")
    return str(folder)


@pytest.fixture
def arguments(monkeypatch):
    """Restore the arguments of the process, which a program gets."""
    monkeypatch.setattr(sys, "argv", sys.argv)


def test_of_two_programs_the_first_counts_as_in_imports(arguments, monkeypatch, tmp_path):
    first = installed(tmp_path / "a", "one", "twice = builtins:int")
    second = installed(tmp_path / "b", "two", "twice = nosuch.module:main")
    monkeypatch.setattr(sys, "path", [first, second, *sys.path])
    assert arm.main(["twice"]) == 0


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    arguments, monkeypatch, tmp_path, capsys
):
    folder = installed(tmp_path, "one", "broken = nosuch.module:main")
    monkeypatch.setattr(sys, "path", [folder, *sys.path])
    assert arm.main(["broken"]) == 2
    error = capsys.readouterr().err
    assert error == f"arm broken needs the package nosuch: {install_command('nosuch')}\n"


@pytest.mark.parametrize("port", ["70000", "-1", "8080.0", "http"])
def test_a_port_that_is_none_is_refused(arguments, port, capsys):
    with pytest.raises(SystemExit):
        arm.main(["view", "--viewer-port", port])
    error = capsys.readouterr().err
    assert f"{port} is not a whole number from 0 to 65535" in error and error.count("\n") == 1
