# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pages and parameter files that are generated from the code, and their current text."""

from pathlib import Path

from pip_ros.paths import REPOSITORY

from . import pages
from .config_files import config_files
from .files import files_page
from .nodes import inspect_nodes
from .programs import all_commands
from .states import state_files

FOLDER = REPOSITORY / "docs" / "reference"


def texts() -> dict[Path, str]:
    """Return the text of each file by its path."""
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
