# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands of the documents are run and their output is compared with the page.

tools/documents/blocks.py decides which blocks are run. Other blocks: ```yaml NAME is a file to
save; ```text is the next output of the view in the first terminal; ```keys is a program that
reads keys, with the keys on the left and the expected output on the right.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from ament_index_python.packages import get_package_prefix
from arm_testing.programs import terminal as pp
from arm_testing.repository import repository
from documents.blocks import COMMANDS, blocks, pages, typed

REPOSITORY = repository()

BOUND = 120.0  # s
PACKAGES = sorted(path.parent.name for path in (REPOSITORY / "src").glob("*/setup.py"))
FOLDERS = [f"{get_package_prefix(package)}/lib/{package}" for package in PACKAGES]
LONG = {"view", "demo", "play"}  # commands that take longer than all others; only a thorough test
# The two ways to start a program: why not here, and how the shell starts $name of $package.
PROFILES = {
    "pip": ("" if "ARM_VENV" in os.environ else "ROS 2 is not from PyPI", '"$folder/$name"'),
    "colcon": (
        "" if shutil.which("ros2") else "needs a full ROS 2; .github/workflows runs it",
        'ros2 run "${folder##*/}" "$name"',
    ),
}


def followed():
    """Yield each page with commands to run, in each profile; without its long commands first."""
    for page in pages():
        shown = [block for block in blocks(page) if block.is_typed]
        is_long = LONG & {line.name for block in shown for line in typed(block)}
        for profile, (why_not, _) in PROFILES.items() if shown else ():
            name = f"{page.relative_to(REPOSITORY).as_posix()}-{profile}"
            marks = [pytest.mark.skipif(bool(why_not), reason=why_not)]
            yield pytest.param(page, profile, not is_long, id=name, marks=marks)
            if is_long:
                marks = [*marks, pytest.mark.thorough]
                yield pytest.param(page, profile, True, id=f"{name}-whole", marks=marks)


ARM = """\
#!/bin/sh
# ./arm in an environment that is already set up.
name=$1; shift
[ "$name" = exec ] && exec "$@"
[ "$name" = --help ] && exec {python} {repository}/arm --help
for folder in {folders}; do
    [ -x "$folder/$name" ] && exec {start} "$@"
done
echo "no command $name" >&2; exit 2
"""


def pattern(shown):
    """Return a pattern for the shown output: any time, any port, anything for `...`."""
    text = re.escape(shown.strip("\n"))
    text = re.sub(r"\\\[\d+\\\.\d+\\\]", r"\\[[0-9.]+\\]", text)
    text = re.sub(r"127\\\.0\\\.0\\\.1:\d+", r"127\\.0\\.0\\.1:[0-9]+", text)
    return re.compile(text.replace(r"\.\.\.", r"(?:.|\n)*?"))


class Reader:
    """Follows a page in a folder with two terminals."""

    def __init__(self, folder, profile, whole):
        self.folder, self.whole = folder, whole
        text = ARM.format(
            folders=" ".join(map(shlex.quote, FOLDERS)),
            start=PROFILES[profile][1],
            python=sys.executable,
            repository=REPOSITORY,
        )
        (folder / "arm").write_text(text)
        (folder / "arm").chmod(0o755)
        self.environment = os.environ | {
            "PYTHONUNBUFFERED": "1",
            "RCUTILS_COLORIZED_OUTPUT": "0",
        }
        self.view, self.read = None, 0
        self.program = None
        self.terminal = folder / "terminal"

    def follow(self, block):
        if block.is_typed:
            for command, shown in block.commands:
                self.type(command, shown)
        elif block.kind in COMMANDS:
            return
        elif block.word:
            (self.folder / block.word).write_text(block.body)
        elif block.kind == "text" and self.view:
            self.wait_for(block.body)
        elif block.kind == "keys":
            for line in block.body.splitlines():
                self.press(line)

    def press(self, line):
        """Start a program, or type keys to it and wait for its output."""
        if line.startswith("$ "):
            words = line[2:].split()
            self.program = pp.PtyProgram(*words, folder=self.folder, environment=self.environment)
            return
        keys, output = line[:16].strip(), line[16:]
        self.program.ask(keys.replace(" Enter", "\n"), output)

    def type(self, command, shown):
        if not self.whole and command.removeprefix("./arm ").split()[0] in LONG:
            return
        if command.startswith("./arm view"):
            with self.terminal.open("w") as terminal:
                self.view = self.start(command, stdout=terminal)
            self.wait_for(shown)
            return
        typed = self.start(command, stdout=subprocess.PIPE)
        output = typed.communicate(timeout=BOUND)[0].strip("\n")
        if shown is None:
            assert typed.returncode == 0, f"$ {command}\n{output}"
            return
        assert pattern(shown).fullmatch(output), f"$ {command}\n{output}\n\nbut the page:\n{shown}"

    def start(self, command, stdout):
        return subprocess.Popen(
            command if "|" in command else f"exec {command}",
            shell=True,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, shown):
        """Wait for new output of the view."""
        end = time.monotonic() + BOUND
        while not (found := pattern(shown).search(output := self.terminal.read_text(), self.read)):
            assert self.view.poll() is None, output
            assert time.monotonic() < end, f"{output}\n\nbut the page:\n{shown}"
            time.sleep(0.05)
        self.read = found.end()

    def close(self):
        if self.program:
            self.program.close()
        if self.view and self.view.poll() is None:
            self.view.send_signal(signal.SIGINT)
            self.view.wait(BOUND)


@pytest.mark.parametrize(("page", "profile", "whole"), list(followed()))
def test_page_commands_print_the_documented_output(tmp_path, page, profile, whole):
    with contextlib.closing(Reader(tmp_path, profile, whole)) as reader:
        for block in blocks(page):
            reader.follow(block)
        if whole and page.name in END:
            END[page.name](reader)


def end_of_the_dh_table(reader):
    assert (reader.folder / "scara.svg").read_text().startswith("<?xml")
    address = re.search(r"http://[\d.]+:\d+", reader.terminal.read_text())[0]
    with urllib.request.urlopen(address, timeout=BOUND) as page:
        assert page.status == 200
    reader.close()
    assert reader.view.returncode == 0, reader.terminal.read_text()
    assert "Traceback" not in reader.terminal.read_text()


def end_of_the_task(reader):
    text = (REPOSITORY / "docs/tutorials/write_a_task.md").read_text()
    assert (reader.folder / "bench.yaml").read_text() in text


def end_of_the_calibration(reader):
    assert reader.program.end() == 0 and "Traceback" not in reader.program.said
    backup = (reader.folder / "mine.yaml.1.bak").read_text()
    zeros = re.findall(r"zero_deg: (\S+)}", (reader.folder / "mine.yaml").read_text())
    assert "zero_deg:" not in backup
    assert [float(zero) for zero in zeros] == pytest.approx([-3.0, 2.5, -4.0], abs=0.3)


END = {
    "from_a_dh_table.md": end_of_the_dh_table,
    "write_a_task.md": end_of_the_task,
    "calibration.md": end_of_the_calibration,
}
