# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the calibrations that come with this package are."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of shipped calibrations: beside the sources, or under share/."""
    here = Path(__file__).resolve().parents[1] / "config"
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    installed = [Path(p) / "share" / "arm_hardware" / "config" for p in (*prefixes, sys.prefix)]
    for folder in (here, *installed):
        if folder.is_dir():
            return folder
    return here
