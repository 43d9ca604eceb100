# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kills programs that save (SIGKILL, at random moments): is the file or its backup ever damaged?

A running page, in which a client edits a robot and presses Save, and a running `calibrate`, in
which a user writes the calibration, are killed and started again. After each kill the file must be
what it was before or after one of the edits, and so must its last backup.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from arm_description.library import shipped_robots
from arm_description.robot_file.reader import parse_robot
from arm_hardware.calibration.file import parse_calibration
from arm_hardware.calibration.selection import config_folder
from arm_testing.pages.viewer_client import CAMERA, connected, decompressed, encoded
from arm_testing.programs.terminal import PtyProgram
from websockets.exceptions import ConnectionClosed

VIEW = "import sys; from arm_viewer.commands.entry_points import viewer as run; sys.exit(run())"
CALIBRATE = "import sys; from arm_hardware.commands.calibrate import main; sys.exit(main())"
CONSTANT, EDITS = "shoulder_height", "Edits"  # a field of the page, and buttons
LONGEST = 1.0  # [s] from the first save to the kill


class Saver(ABC):
    """A running program that saves a file again and again.

    Attributes:
        file: What it saves.
        saves: How often it said so.
        interrupted: How many kills came after the backup and before the file was replaced.
        left: How many left a draft, which the next save removes.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "mine.yaml"
        self.saves = self.interrupted = self.left = 0

    original: bytes
    parse: Callable[[bytes, Path], object]

    @abstractmethod
    def run(self, seconds: float) -> None:
        """Start the program, and kill it some time after its first save [s]."""

    def saved(self, seconds: float, kill: Callable[[], None]) -> None:
        """Count a save; after the first one, plan the kill."""
        self.saves += 1
        if not self._planned:
            self._planned = True
            threading.Timer(seconds, kill).start()

    _planned = False

    def faults(self) -> list[str]:
        """Return what is damaged, and remove the backups."""
        backups = sorted(self.file.parent.glob("*.bak"), key=lambda path: path.stat().st_mtime)
        found, self._planned = [] if backups else ["no backup"], False
        self.interrupted += bool(backups) and backups[-1].read_bytes() == self.file.read_bytes()
        for path in (self.file, *backups[-1:]):
            try:
                text = path.read_bytes()
                self.parse(text, path)
            except (ValueError, OSError) as error:
                found.append(f"{path.name}: {error}")
                continue
            if _without_numbers(text) != _without_numbers(self.original):
                found.append(f"{path.name} has other lines than before")
        for path in self.file.parent.iterdir():
            if path not in (self.file, *backups[-1:]):
                self.left += path not in backups
                path.unlink()
        if backups:
            backups[-1].unlink()
        return found


def _without_numbers(text: bytes) -> list[bytes]:
    """Return the lines without numbers, and without what a calibration adds to its servos."""
    plain = re.sub(rb"[0-9][0-9.]*", b"0", text)
    return re.sub(rb"( \+ 0)+|, calibrated: [-0]+", b"", plain).splitlines()


class PageSaver(Saver):
    """The page of a robot file; its client types one of its constants, and presses Save."""

    original = shipped_robots()["nut_arm"].read_bytes()
    parse = staticmethod(lambda text, path: parse_robot(text, str(path)))

    def run(self, seconds: float) -> None:
        """Start the program, and kill it some time after its first save [s]."""
        log = self.file.parent.parent / "page.log"
        command = [sys.executable, "-c", VIEW, "--ros-args", "-p", f"robot:={self.file}"]
        with log.open("w") as output:
            page = subprocess.Popen(
                [*command, "-p", "port:=0", "-p", "sliders:=true"], stdout=output, stderr=output
            )
        try:
            while not (found := re.search(r"Browser view: http://(\S+)", log.read_text())):
                if page.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            with suppress(ConnectionClosed, ConnectionError), connected(found[1]) as socket:
                self._edit(socket, partial(self.saved, seconds, page.kill))
        finally:
            page.kill()
            page.wait()

    def _edit(self, socket: Any, saved: Callable[[], None]) -> None:
        socket.send(encoded(CAMERA))
        fields: dict[str, str] = {}
        while len(fields) < 2:
            self._receive(socket, fields)
        inode = self.file.stat().st_ino
        for number in itertools.count(random.randrange(50)):
            for name, value in ((CONSTANT, f"{60 + number % 40}.5"), (EDITS, "Save")):
                update = {"uuid": fields[name], "updates": {"value": value}}
                socket.send(encoded({"type": "GuiUpdateMessage", **update}))
            end = time.monotonic() + 60.0
            while self.file.stat().st_ino == inode:
                self._receive(socket, fields, 0.001)
                if time.monotonic() > end:
                    raise SystemExit("the page did not save")
            inode = self.file.stat().st_ino
            saved()

    def _receive(self, socket: Any, fields: dict[str, str], timeout: float = 60.0) -> None:
        """Receive a message, if one comes, and note the fields in it."""
        with suppress(TimeoutError):
            message = msgspec.msgpack.decode(decompressed(socket.recv(timeout=timeout)))
            for part in message["messages"]:
                label = (part.get("props") or {}).get("label")
                if label in (EDITS, CONSTANT):
                    fields.setdefault(label, part["uuid"])


class CalibrateSaver(Saver):
    """`calibrate` with emulated servos; its user bounds the waist's pulses, and writes."""

    original = (config_folder() / "nut_arm_servos.yaml").read_bytes()
    parse = staticmethod(parse_calibration)

    def run(self, seconds: float) -> None:
        """Start the program, and kill it some time after its first save [s]."""
        program = PtyProgram(sys.executable, "-c", CALIBRATE, str(self.file), "--hardware=sim")
        program.wait_for("p: first")
        program.ask("p", "Send it?")
        program.type("y")
        with suppress(AssertionError, OSError):  # it was killed
            for step in itertools.cycle(".,"):
                program.ask(f"{step}]w", "Write this to")
                program.ask("y", "Written")
                self.saved(seconds, program.kill)
        program.close()


def kill_often(kind: type[Saver], kills: int, moments: random.Random) -> str:
    """Kill a program often while it saves; return a row of the table."""
    damaged, begin = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        folder.mkdir()
        saver = kind(folder)
        for number in range(kills):
            saver.file.write_bytes(saver.original)
            saver.run(moments.uniform(0.0, LONGEST))
            if faults := saver.faults():
                damaged += 1
                print(f"kill {number + 1}: {'; '.join(faults)}", flush=True)
    seconds = time.monotonic() - begin
    counts = (kills, saver.saves, saver.interrupted, saver.left, damaged)
    return f"| {kind.__name__} | {' | '.join(map(str, counts))} | {seconds:.0f} s |"


def main() -> int:
    """Run the kills; return how many kinds of programs damaged a file."""
    parser = argparse.ArgumentParser(prog="./arm bench saving", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="of each program (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (1)")
    given = parser.parse_args()
    head = "| | kills | saves | between backup and file | drafts left | damage | |"
    print(f"{head}\n|---|---:|---:|---:|---:|---:|---:|", flush=True)
    rows = []
    for kind in (CalibrateSaver, PageSaver):
        rows.append(kill_often(kind, given.kills, random.Random(given.seed)))
        print(rows[-1], flush=True)
    return sum(int(row.split(" | ")[-2]) > 0 for row in rows)


if __name__ == "__main__":
    sys.exit(main())
