# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tutorial as a person follows it: files saved, commands typed, and what they say compared.

In its blocks `...` stands for any text. ```yaml NAME is a file to save, ```console holds commands
and what they say; ```text is what the view in the first terminal says next.
"""

import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix

pytestmark = pytest.mark.system
BOUND = 120.0  # s
DOMAIN = "77"
TUTORIAL = Path(__file__).resolve().parents[4] / "docs/tutorials/from_a_dh_table.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ARM = """\
#!/bin/sh
# ./arm, where all is set up already.
name=$1; shift
[ "$name" = exec ] && exec "$@"
for folder in {folders}; do
    [ -x "$folder/$name" ] && exec "$folder/$name" "$@"
done
echo "no command $name" >&2; exit 2
"""


def pattern(shown):
    """What is shown as a pattern: any time, any port, anything for `...`."""
    text = re.escape(shown.strip("\n"))
    text = re.sub(r"\\\[\d+\\\.\d+\\\]", r"\\[[0-9.]+\\]", text)
    text = re.sub(r"127\\\.0\\\.0\\\.1:\d+", r"127\\.0\\.0\\.1:[0-9]+", text)
    return re.compile(text.replace(r"\.\.\.", r"(?:.|\n)*?"))


def commands(block):
    """Pairs of a command and what it says."""
    return [
        (part.partition("\n")[0], part.partition("\n")[2])
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]


class Reader:
    """A person in a folder with two terminals."""

    def __init__(self, folder):
        self.folder = folder
        prefixes = (get_package_prefix(package) for package in ("arm_description", "arm_tasks"))
        packages = ("arm_description", "arm_tasks")
        folders = [f"'{p}/lib/{n}'" for p, n in zip(prefixes, packages, strict=True)]
        (folder / "arm").write_text(ARM.format(folders=" ".join(folders)))
        (folder / "arm").chmod(0o755)
        self.environment = os.environ | {
            "ROS_DOMAIN_ID": DOMAIN,
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
            "RCUTILS_COLORIZED_OUTPUT": "0",
        }
        self.view, self.read = None, 0
        self.terminal = folder / "terminal"

    def follow(self, kind, name, body):
        if name:
            (self.folder / name).write_text(body)
        elif kind == "console":
            for command, shown in commands(body):
                self.type(command, shown)
        elif kind == "text":
            self.wait_for(body)

    def type(self, command, shown):
        if command.startswith("./arm view"):
            with self.terminal.open("w") as terminal:
                self.view = self.start(command, stdout=terminal)
            self.wait_for(shown)
            return
        typed = self.start(command, stdout=subprocess.PIPE)
        said = typed.communicate(timeout=BOUND)[0].strip("\n")
        assert pattern(shown).fullmatch(said), f"$ {command}\n{said}\n\nbut the tutorial:\n{shown}"

    def start(self, command, stdout):
        return subprocess.Popen(
            f"exec {command}",
            shell=True,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, shown):
        """Wait until the view says something that it has not said before."""
        end = time.monotonic() + BOUND
        while not (found := pattern(shown).search(said := self.terminal.read_text(), self.read)):
            assert self.view.poll() is None, said
            assert time.monotonic() < end, f"{said}\n\nbut the tutorial:\n{shown}"
            time.sleep(0.05)
        self.read = found.end()

    def close(self):
        if self.view and self.view.poll() is None:
            self.view.send_signal(signal.SIGINT)
            self.view.wait(BOUND)


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


def test_every_step_does_what_the_tutorial_says(reader):
    blocks = BLOCK.findall(TUTORIAL.read_text())
    assert sum(kind == "console" for kind, _, _ in blocks) >= 8
    for kind, name, body in blocks:
        reader.follow(kind, name, body)
    assert (reader.folder / "scara.svg").read_text().startswith("<?xml")
    address = re.search(r"http://[\d.]+:\d+", reader.terminal.read_text())[0]
    with urllib.request.urlopen(address, timeout=BOUND) as page:
        assert page.status == 200
    reader.close()
    assert reader.view.returncode == 0, reader.terminal.read_text()
    assert "Traceback" not in reader.terminal.read_text()
