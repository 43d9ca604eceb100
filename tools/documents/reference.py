# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pages and parameter files that are generated from the code, and their current text."""

import re
import sys
from pathlib import Path

from arm_common.plugins import entry_point_files
from pip_ros.paths import REPOSITORY

from . import pages
from .config_files import config_files
from .files import files_page
from .nodes import inspect_nodes
from .programs import all_commands
from .states import state_files

FOLDER = REPOSITORY / "docs" / "reference"


def texts() -> dict[Path, str]:
    """Return the text of each file by its path.

    Raises:
        UndescribedError: A part of another package would be described as if it were shipped.
    """
    _check_alone()
    nodes = list(inspect_nodes())
    launch_files = sorted((REPOSITORY / "src").glob("*/launch/*.launch.py"))
    made = {
        "interfaces": pages.interfaces_page(nodes),
        "parameters": pages.parameters_page(nodes),
        "messages": pages.messages_page(REPOSITORY / "src" / "arm_interfaces"),
        "launch": pages.launch_page(launch_files),
        "commands": pages.commands_page(list(all_commands())),
        "files": files_page(),
    }
    shipped = config_files(nodes, REPOSITORY / "src")
    return {FOLDER / f"{name}.md": text for name, text in made.items()} | shipped | state_files()


def _check_alone() -> None:
    """Raise UndescribedError if a package of others adds a backend, layer, panel or command."""
    own = {folder.name for folder in (REPOSITORY / "src").iterdir()}
    for file in entry_point_files(sys.path):
        name = file.parent.name.partition("-")[0]
        if name not in own and re.search(r"^\[arm[._]", file.read_text(encoding="utf-8"), re.M):
            raise pages.UndescribedError(
                f"{name} adds parts that are not shipped; uninstall it while the pages are written"
            )
