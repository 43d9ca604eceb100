# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tutorials as a person follows them: files saved, commands typed, and what they say compared.

In their blocks `...` stands for any text. ```yaml NAME is a file to save, ```console holds
commands and what they say; ```text is what the view in the first terminal says next; ```keys holds
a program that reads keys, what is typed there on the left and what is read then on the right.
"""

import importlib.util
import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix

PTY = Path(__file__).resolve().parents[3] / "arm_hardware/test/pty_program.py"
spec = importlib.util.spec_from_file_location("pty_program", PTY)
pp = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pp)

pytestmark = pytest.mark.system
BOUND = 120.0  # s
DOMAIN = "77"
REPOSITORY = Path(__file__).resolve().parents[4]
TUTORIALS = REPOSITORY / "docs/tutorials"
PACKAGES = ("arm_description", "arm_hardware", "arm_tasks")
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
        folders = [f"'{get_package_prefix(package)}/lib/{package}'" for package in PACKAGES]
        (folder / "arm").write_text(ARM.format(folders=" ".join(folders)))
        (folder / "arm").chmod(0o755)
        self.environment = os.environ | {
            "ROS_DOMAIN_ID": DOMAIN,
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
            "RCUTILS_COLORIZED_OUTPUT": "0",
        }
        self.view, self.read = None, 0
        self.program = None
        self.terminal = folder / "terminal"

    def follow(self, kind, name, body):
        if name:
            (self.folder / name).write_text(body)
        elif kind == "console":
            for command, shown in commands(body):
                self.type(command, shown)
        elif kind == "text":
            self.wait_for(body)
        elif kind == "keys":
            for line in body.splitlines():
                self.press(line)

    def press(self, line):
        """Start a program, or type keys to it and wait for what it says then."""
        if line.startswith("$ "):
            words = line[2:].split()
            self.program = pp.PtyProgram(*words, folder=self.folder, environment=self.environment)
            return
        keys, said = line[:16].strip(), line[16:]
        self.program.ask(keys.replace(" Enter", "\n"), said)

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
        if self.program:
            self.program.close()
        if self.view and self.view.poll() is None:
            self.view.send_signal(signal.SIGINT)
            self.view.wait(BOUND)


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


def follow(reader, name):
    text = (TUTORIALS / name).read_text()
    told = subprocess.run([REPOSITORY / "arm", "--help"], capture_output=True, text=True).stdout
    for command in re.findall(r"\./arm (\w+)", text):
        assert f"./arm {command} " in told, command
    blocks = BLOCK.findall(text)
    assert sum(kind == "console" for kind, _, _ in blocks) >= 5
    for kind, file, body in blocks:
        reader.follow(kind, file, body)


def test_from_a_dh_table(reader):
    follow(reader, "from_a_dh_table.md")
    assert (reader.folder / "scara.svg").read_text().startswith("<?xml")
    address = re.search(r"http://[\d.]+:\d+", reader.terminal.read_text())[0]
    with urllib.request.urlopen(address, timeout=BOUND) as page:
        assert page.status == 200
    reader.close()
    assert reader.view.returncode == 0, reader.terminal.read_text()
    assert "Traceback" not in reader.terminal.read_text()


def test_write_a_task(reader):
    follow(reader, "write_a_task.md")
    assert (reader.folder / "bench.yaml").read_text() in (
        TUTORIALS / "write_a_task.md"
    ).read_text()


def test_calibration(reader):
    follow(reader, "calibration.md")
    assert reader.program.end() == 0 and "Traceback" not in reader.program.said
    backup = (reader.folder / "mine.yaml.1.bak").read_text()
    zeros = re.findall(r"zero_deg: (\S+)}", (reader.folder / "mine.yaml").read_text())
    assert "zero_deg:" not in backup
    assert [float(zero) for zero in zeros] == pytest.approx([-3.0, 2.5, -4.0], abs=0.3)
