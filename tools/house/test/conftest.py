# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Make the tools importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
