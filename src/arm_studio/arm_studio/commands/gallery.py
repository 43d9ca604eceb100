# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm gallery FOLDER [ROBOT ...]`: pictures of robots in the browser view.

For each robot a state publisher and a view are started, and a headless Chromium takes the picture.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_common.cli import run
from arm_common.files.saving import write_bytes
from arm_common.terminal import print_line
from arm_description.library import load_robot, shipped_robots
from arm_viewer.errors import ViewerError
from arm_viewer.screenshot import WITHOUT_SIDEBAR, address_in, open_page, scene_box, visit

SIZE = (640 + 324, 480)  # of the page; its panel takes the second number of the width
TIMEOUT = 120.0  # [s] for one robot
RUN = "import sys; from {} import main; sys.exit(main())"
VIEW, PUBLISHER = "arm_viewer.ros.node", "arm_description.ros.state_publisher"


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="./arm gallery", description="Pictures of robots in the browser view."
    )
    parser.add_argument("folder", type=Path, help="folder of the pictures <robot>.png")
    parser.add_argument("robots", nargs="*", help="shipped names or paths; all shipped by default")
    return run(parser, _save_pictures, arguments, (ValueError,))


def _save_pictures(given: argparse.Namespace) -> None:
    try:
        given.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if given.folder.is_file() else error.strerror
        raise ViewerError(f"no folder {given.folder} can be made: {reason}") from None
    with open_page(SIZE) as page:
        for robot in given.robots or shipped_robots():
            file = given.folder / f"{Path(robot).stem}.png"
            save_picture(page, robot, file)
            print_line(f"{file}")


def save_picture(page: Any, robot: str, file: Path) -> None:
    """Save a picture of a robot, without the panel."""
    model = load_robot(robot)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "view.log"
        switches = ("sliders:=true", "portrait:=true", "show_axes:=false", "show_trace:=false")
        parameters = (f"robot:={robot}", "port:=0", *switches)
        description = f"robot_description:={model.to_urdf()}"
        with (
            _process(PUBLISHER, (description,), Path(folder) / "publisher.log"),
            _process(VIEW, parameters, log),
        ):
            visit(page, address_in(log, TIMEOUT), TIMEOUT)
            page.get_by_label("Drag handle").click()
            page.wait_for_function("!document.querySelector('[data-arm=problem]')")
            write_bytes(page.screenshot(style=WITHOUT_SIDEBAR, clip=scene_box(page)), file)


@contextmanager
def _process(module: str, parameters: Sequence[str], log: Path) -> Iterator[None]:
    words = [word for parameter in parameters for word in ("-p", parameter)]
    command = [sys.executable, "-c", RUN.format(module), "--ros-args", *words]
    environment = {"ROS_DOMAIN_ID": "79", **os.environ}
    with log.open("w") as output:
        child = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        yield
    finally:
        child.terminate()
        child.wait()


if __name__ == "__main__":
    sys.exit(main())
