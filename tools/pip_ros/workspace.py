# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Build the packages with colcon, only what changed since the last build that went to its end."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from .environment import run_environment, wheel_environment
from .paths import TOOLS, Paths
from .progress import run_logged

OVERLAY = TOOLS / "overlay"
SKIPPED = {"__pycache__", "test", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def package_folders(paths: Paths) -> list[Path]:
    """The packages of the project and of the overlay, by their package.xml."""
    sources = [*(paths.repository / "src").glob("*/package.xml"), *OVERLAY.glob("*/package.xml")]
    return sorted(file.parent for file in sources)


def files_of(package: Path) -> Iterable[Path]:
    """All files of a package that matter for its build."""
    for file in sorted(package.rglob("*")):
        inside = file.relative_to(package).parts
        if file.is_file() and not SKIPPED.intersection(inside) and not inside[-1].endswith(".pyc"):
            yield file


def fingerprint(package: Path) -> str:
    """A string that changes when a file of the package changes."""
    digest = hashlib.sha256()
    for file in files_of(package):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def changed_packages(paths: Paths) -> dict[str, str]:
    """Return name -> fingerprint of each package to build: all if an interface changed."""
    present = {folder.name: fingerprint(folder) for folder in package_folders(paths)}
    built = read_stamp(paths)
    changed = {name: mark for name, mark in present.items() if built.get(name) != mark}
    interfaces = {
        folder.name for folder in package_folders(paths) if (folder / "CMakeLists.txt").exists()
    }
    return present if interfaces.intersection(changed) or not paths.install.exists() else changed


def stamp_file(paths: Paths) -> Path:
    """The file that holds the fingerprints of the packages as they were built."""
    return paths.workspace / "built.json"


def read_stamp(paths: Paths) -> dict[str, str]:
    """Return name -> fingerprint of what was built to the end; empty if that is not known."""
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
    folders = [str(folder) for folder in package_folders(paths)]
    stamp = {name: mark for name, mark in read_stamp(paths).items() if name not in changed}
    paths.workspace.mkdir(parents=True, exist_ok=True)
    stamp_file(paths).write_text(json.dumps(stamp))
    remove_stale(paths, changed)
    command = [
        str(paths.python),
        "-m",
        "colcon",
        "--log-base",
        str(paths.logs / "colcon"),
        "build",
    ]
    command += ["--merge-install", "--build-base", str(paths.workspace / "build")]
    command += ["--install-base", str(paths.install), "--event-handlers", "console_direct+"]
    command += ["--packages-select", *sorted(changed), "--base-paths", *folders, "--cmake-args"]
    command += [
        f"-DPython3_EXECUTABLE={paths.python}",
        "-DBUILD_TESTING=OFF",
        "--no-warn-unused-cli",
    ]
    run_logged(
        command,
        paths.logs / "colcon.log",
        ColconProgress(len(changed)),
        f"Building {len(changed)} package{'s' if len(changed) > 1 else ''}",
        wheel_environment(paths),
        paths.workspace,
    )
    if "arm_kinematics" in changed:
        precompile(paths)
    stamp_file(paths).write_text(json.dumps(stamp | changed, indent=1))


def precompile(paths: Paths) -> None:
    """Compile the kernels of arm_kinematics now, so that no node has to at its first start."""
    command = [str(paths.python), "-m", "arm_kinematics.precompile"]
    log = paths.logs / "precompile.log"
    title = "Compiling the kinematics"
    environment = run_environment(paths)
    run_logged(command, log, lambda line: line.strip(), title, environment, paths.workspace)


def remove_stale(paths: Paths, packages: Iterable[str]) -> None:
    """Remove the earlier build of Python packages, so that deleted files do not live on.

    What was compiled stays: it knows by itself which source it belongs to.
    """
    for name in packages:
        if (paths.repository / "src" / name / "setup.py").exists():
            installed = paths.install.glob(f"lib/python3.*/site-packages/{name}/*")
            for place in [
                paths.workspace / "build" / name,
                paths.install / "share" / name,
                *(place for place in installed if place.name != "__pycache__"),
            ]:
                if place.is_dir():
                    shutil.rmtree(place, ignore_errors=True)
                else:
                    place.unlink(missing_ok=True)


class ColconProgress:
    """Turn colcon's output into a short account: how many are done, which are at work."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._working: list[str] = []

    def __call__(self, line: str) -> str | None:
        """Return what to show for one line of colcon's output, or None."""
        started = re.match(r"Starting >>> (\S+)", line)
        finished = re.match(r"Finished <<< (\S+)", line)
        if started:
            self._working.append(started[1])
        elif finished:
            self._done += 1
            self._working = [name for name in self._working if name != finished[1]]
        working = ", ".join(self._working) or "nothing"
        return f"{self._done} of {self._total} done, at work on {working}"
