# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Missing requirements are reported with the command that installs them."""

import pytest
from pip_ros import machine
from pip_ros.errors import SetupError


def test_this_machine_meets_the_requirements():
    assert machine.missing_tools() == []


def test_missing_compiler_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SetupError,
        match=r"lacks a C\+\+ compiler, make\. Install with:\n.*apt-get install -y g\+\+ make",
    ):
        machine.check_machine()


def test_missing_headers_and_venv_name_their_packages(monkeypatch, tmp_path):
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda _: None)
    packages = {item.package for item in machine.missing_tools()}
    assert any(p.endswith("-venv") for p in packages)
    assert any(p.endswith("-dev") for p in packages)


def test_unsupported_machine_is_pointed_to_ubuntu(monkeypatch):
    other = machine.os.uname_result(("Linux", "", "", "", "aarch64"))
    monkeypatch.setattr(machine.os, "uname", lambda: other)
    with pytest.raises(SetupError, match=r"this is Linux aarch64.*Use Ubuntu 24\.04"):
        machine.check_machine()
