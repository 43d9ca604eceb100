# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Regenerate reference pages and parameter files: ./arm exec python3 tools/documents/write.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from documents.identity import identified_files
from documents.licences import licences_page
from documents.reference import FOLDER, texts

made = texts() | identified_files() | {FOLDER / "licences.md": licences_page()}
for path, text in made.items():
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
