# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The paths of the repository and of everything that ./arm creates in .venv."""

from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = Path(__file__).resolve().parent


class Paths(NamedTuple):
    """The folders of one set-up.

    Attributes:
        repository: Root of the project.
        venv: The virtual environment, which is also the ament prefix of the wheels.
    """

    repository: Path = REPOSITORY
    venv: Path = REPOSITORY / ".venv"

    @property
    def python(self) -> Path:
        """The interpreter of the virtual environment."""
        return self.venv / "bin" / "python3"

    @property
    def workspace(self) -> Path:
        """The colcon workspace, in .venv so that removing .venv removes everything."""
        return self.venv / "workspace"

    @property
    def install(self) -> Path:
        """The merged install folder of the workspace."""
        return self.workspace / "install"

    @property
    def logs(self) -> Path:
        """Logs of pip and colcon."""
        return self.repository / "log" / "arm"
