# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The licences of everything that ./arm installs, from the packages' own metadata."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pip_ros import lock, venv

from .markdown import page, table

# Packages that state their licence only in its text, and packages only for Python 3.10.
KNOWN = {
    "absl-py": "Apache-2.0",
    "cmeel-qhull": "Qhull",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "embreex": "BSD-3-Clause",
    "empy": "LGPL-2.1-or-later",
    "etils": "Apache-2.0",
    "exceptiongroup": "MIT",
    "fsspec": "BSD-3-Clause",
    "glfw": "MIT",
    "importlib-resources": "Apache-2.0",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "PSF-2.0 (matplotlib's own form)",
    "mujoco": "Apache-2.0",
    "pyopengl": "BSD-3-Clause",
    "pytest-repeat": "MPL-2.0",
    "ros-fastcdr": "Apache-2.0",
    "ros-fastrtps": "Apache-2.0",
    "scipy": "BSD-3-Clause",
    "setuptools": "MIT",
    "toml": "MIT",
    "tomli": "MIT",
    "trimesh": "MIT",
    "vhacdx": "MIT",
    "xacro": "BSD-3-Clause",
    "zipp": "MIT",
}
SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD",
    "BSD license": "BSD",
    "Boost Software License": "BSL-1.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Zlib": "Zlib",
    "zlib License": "Zlib",
}
WORDS = """\
None of these is part of this project, which is [Apache-2.0](../../LICENSE); `./arm` installs them
from PyPI into `.venv`. The licence is what a package says in its metadata, or the `package.xml` in
a wheel of ROS. Where they come from, and what their hashes prove:
[pins and hashes](../../CONTRIBUTING.md#pins-and-hashes)."""


def licences_page() -> str:
    """Return the page, in groups by licence."""
    parts = [WORDS]
    for file, title in (
        (venv.REQUIREMENTS, "What runs the arm"),
        (venv.TEST_REQUIREMENTS, "What only tests and documents need"),
    ):
        groups = defaultdict(list)
        for name in names(file):
            groups[licence(name)].append(name)
        rows = [(kind, ", ".join(members)) for kind, members in sorted(groups.items())]
        parts += [f"## {title}", table(("licence", "packages"), rows)]
    return page("Licences of the dependencies", *parts)


def names(file: Path) -> list[str]:
    """Return the names in a lock file, for all Pythons."""
    return sorted({pin.partition("==")[0] for pin in lock.pins(file)})


def licence(name: str) -> str:
    """Return the licence of a package.

    Raises:
        LookupError: Neither the package nor KNOWN states it.
    """
    found = KNOWN.get(name) or next(filter(None, _stated_licences(name)), "")
    if not found:
        raise LookupError(f"{name} does not state its licence; add it to {__name__}.KNOWN")
    return found


def _stated_licences(name: str) -> Iterator[str]:
    """Yield the licences that a package states, the most specific first."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return
    yield from metadata.get_all("License-Expression") or ()
    text = (metadata.get_all("License") or [""])[0]
    if "\n" not in text and text not in ("", "UNKNOWN", "BSD", "BSD license"):
        yield SPDX.get(text, text)
    kinds = [
        c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier") or () if "License" in c
    ]
    yield " or ".join(SPDX.get(kind, kind) for kind in kinds)
    yield from _ros_licences(name)
    yield SPDX.get(text, text) if "\n" not in text else ""


def _ros_licences(name: str) -> Iterator[str]:
    """Yield the licence in the package.xml of a ROS wheel."""
    short = re.sub(r"^ros-(jazzy-)?", "", name).replace("-", "_")
    file = Path(sys.prefix, "share", short, "package.xml")
    if file.is_file():
        found = ET.parse(file).getroot().findall("license")
        yield " AND ".join(sorted({SPDX.get(e.text or "", e.text or "") for e in found}))
