# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import platform
import subprocess
import sys

import pytest
from arm_common.suggestions import install_command

from arm_common import suggestions

PIP = f"{sys.executable} -m pip install pyserial"
APT = "sudo apt install python3-serial"
VENV = "~/arm_venv/bin/pip install pyserial"


@pytest.fixture
def computer(monkeypatch, tmp_path):
    """Return a function that makes this computer look like another one."""

    def make(release="", refuses=True, in_venv=False):
        name, _, version = release.partition(" ")

        def os_release():
            if not release:
                raise OSError("no os-release")
            return {"ID": name, "VERSION_ID": version}

        monkeypatch.setattr(platform, "freedesktop_os_release", os_release)
        monkeypatch.setattr(suggestions, "_pip_refuses", lambda: refuses)
        monkeypatch.setattr(sys, "base_prefix", "/base" if in_venv else sys.prefix)
        path = tmp_path / "apt-get"
        if name in ("ubuntu", "debian"):
            path.touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return make


@pytest.mark.parametrize(
    ("release", "refuses", "in_venv", "command"),
    [
        ("ubuntu 24.04", True, False, APT),
        ("debian 12", True, False, APT),  # also Raspberry Pi OS
        ("fedora 44", True, False, VENV),
        ("", True, False, VENV),
        ("debian 12", True, True, PIP),
        ("ubuntu 22.04", False, False, PIP),
    ],
)
def test_command_works_on_that_system(computer, release, refuses, in_venv, command):
    computer(release, refuses, in_venv)
    assert command in install_command("pyserial", "python3-serial")


def test_library_that_apt_lacks_goes_into_a_virtual_environment(computer):
    computer("debian 12")
    command = install_command("viser")
    assert "apt" not in command and "--system-site-packages" in command


def test_command_for_a_virtual_environment_is_valid_shell(computer):
    computer("debian 12")
    done = subprocess.run(["/bin/sh", "-n", "-c", install_command("viser")], capture_output=True)
    assert done.returncode == 0
