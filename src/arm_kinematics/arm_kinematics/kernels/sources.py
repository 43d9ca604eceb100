# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The digest of the C++ sources, by which a compiled module of other sources is recognised.

setup.py runs this file by itself.
"""

from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "cpp"


def digest() -> str:
    """Return the digest of the sources; empty where they are not installed."""
    files = sorted(FOLDER.rglob("*.?pp"))
    content = b"\0".join(part for f in files for part in (f.name.encode(), f.read_bytes()))
    return sha256(content).hexdigest()[:16] if files else ""
