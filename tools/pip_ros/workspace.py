# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Builds the packages that changed since the last complete build, with colcon."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

from .environment import wheel_environment
from .paths import TOOLS, Paths
from .progress import run_logged
from .venv import byte_compile

OVERLAY = TOOLS / "overlay"
FOR_PYTHON = TOOLS / "for_python.cmake"
SKIPPED = {"__pycache__", "build", "test", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def package_folders(paths: Paths) -> list[Path]:
    """Return the folders of the project's and the overlay's packages."""
    sources = [*(paths.repository / "src").glob("*/package.xml"), *OVERLAY.glob("*/package.xml")]
    return sorted(file.parent for file in sources)


def files_of(package: Path) -> Iterable[Path]:
    """Yield all files of a package that are relevant to its build."""
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(set(folders) - SKIPPED)
        for file in (Path(folder, name) for name in sorted(names)):
            if not file.name.endswith((".pyc", ".so")) and file.exists():
                yield file


def fingerprint(package: Path) -> str:
    """Return a string that changes with the files and the build rules of a package."""
    digest = hashlib.sha256()
    if (package / "CMakeLists.txt").exists():
        digest.update(FOR_PYTHON.read_bytes())
    for file in files_of(package):
        inside = str(file).removeprefix(str(package)).encode()
        digest.update(inside + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def changed_packages(paths: Paths) -> dict[str, str]:
    """Return name -> fingerprint of each package to build: all if an interface changed."""
    present = {folder.name: fingerprint(folder) for folder in package_folders(paths)}
    built = read_stamp(paths)
    changed = {
        name: mark
        for name, mark in present.items()
        if built.get(name) != mark or not is_there(paths, name)
    }
    interfaces = {
        folder.name for folder in package_folders(paths) if (folder / "CMakeLists.txt").exists()
    }
    return present if interfaces.intersection(changed) or not paths.install.exists() else changed


def is_there(paths: Paths, name: str) -> bool:
    """Return whether the files of a built package have not been deleted."""
    packages = paths.install.glob("lib/python3.*/site-packages")
    has_modules = any((packages_of / name / "__init__.py").exists() for packages_of in packages)
    return has_modules and (paths.install / "share" / name / "package.xml").exists()


def stamp_file(paths: Paths) -> Path:
    """Return the file with the fingerprints of the packages as built."""
    return paths.workspace / "built.json"


def read_stamp(paths: Paths) -> dict[str, str]:
    """Return name -> fingerprint of the completely built packages; empty if unknown."""
    try:
        stamp = json.loads(stamp_file(paths).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def build(paths: Paths) -> None:
    """Bring the workspace up to date."""
    changed = changed_packages(paths)
    if not changed:
        return
    stamp = {name: mark for name, mark in read_stamp(paths).items() if name not in changed}
    paths.workspace.mkdir(parents=True, exist_ok=True)
    stamp_file(paths).write_text(json.dumps(stamp))
    remove_stale(paths, changed)
    colcon_build(paths, changed)
    mend_interpreter_lines(paths)
    byte_compile(paths, paths.install / "lib")
    stamp_file(paths).write_text(json.dumps(stamp | changed, indent=1))


def colcon_build(paths: Paths, names: Collection[str]) -> None:
    """Build these packages, if any, regardless of the rest of the workspace."""
    if not names:
        return
    folders = [str(folder) for folder in package_folders(paths) if folder.name in names]
    command = [str(paths.python), "-m", "colcon", "--log-base", str(paths.logs / "colcon")]
    command += ["build", "--merge-install", "--build-base", str(paths.workspace / "build")]
    command += ["--install-base", str(paths.install), "--event-handlers", "console_direct+"]
    # more packages at a time than cores: most of the time, one generator waits for another
    command += ["--parallel-workers", str(2 * (os.cpu_count() or 1) + 4)]
    command += ["--base-paths", *folders, *cmake_arguments(paths)]
    run_logged(
        command,
        paths.logs / "colcon.log",
        ColconProgress(len(names)),
        f"Building {len(names)} package{'s' if len(names) > 1 else ''}",
        wheel_environment(paths),
        paths.workspace,
    )


def mend_interpreter_lines(paths: Paths) -> None:
    """Let a shell start the interpreter of programs whose `#!` line Linux does not understand.

    The path in such a line must not contain a blank, and the line has 127 bytes at most.
    """
    for file in paths.install.glob("lib/*/*"):
        if not file.is_file():
            continue
        first, _, rest = file.read_bytes().partition(b"\n")
        interpreter = first.removeprefix(b"#!").strip(b' "')
        is_python = first.startswith(b"#!") and interpreter == str(paths.python).encode()
        if is_python and (b" " in interpreter or len(first) > 127):
            head = b"#!/bin/sh\n'''exec' \"" + interpreter + b'" "$0" "$@"\n' + b"' '''\n"
            file.write_bytes(head + rest)


def cmake_arguments(paths: Paths) -> list[str]:
    """Return the arguments that colcon passes to CMake for the interface packages."""
    given = {"Python3_EXECUTABLE": paths.python, "CMAKE_PROJECT_INCLUDE": FOR_PYTHON}
    defined = [f"-D{name}={value}" for name, value in given.items()]
    return ["--cmake-args", *defined, "-DBUILD_TESTING=OFF", "--no-warn-unused-cli"]


def remove_stale(paths: Paths, packages: Iterable[str]) -> None:
    """Remove the previous build of Python packages, so that deleted files disappear."""
    for name in packages:
        if (paths.repository / "src" / name / "setup.py").exists():
            installed = paths.install.glob(f"lib/python3.*/site-packages/{name}/*")
            for place in [
                paths.workspace / "build" / name,
                paths.install / "share" / name,
                paths.install / "lib" / name,  # its commands
                *installed,
            ]:
                if place.is_dir():
                    shutil.rmtree(place, ignore_errors=True)
                else:
                    place.unlink(missing_ok=True)


class ColconProgress:
    """Condenses colcon's output to the number of finished packages and the current ones."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._working: list[str] = []

    def __call__(self, line: str) -> str | None:
        """Return the text to show for one line of colcon's output, or None."""
        started = re.match(r"Starting >>> (\S+)", line)
        finished = re.match(r"Finished <<< (\S+)", line)
        if started:
            self._working.append(started[1])
        elif finished:
            self._done += 1
            self._working = [name for name in self._working if name != finished[1]]
        working = ", ".join(self._working) or "nothing"
        return f"{self._done} of {self._total} done, building {working}"
