# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm test: runs linters and type checks, then the tests."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from . import messages_for_tests, venv
from .become import become
from .errors import SetupError
from .paths import REPOSITORY, Paths

HELP = """\
./arm test            linters, types, and all tests except those marked thorough
./arm test --all      the thorough tests, too: pages with view, network failures
./arm test --fast     fast tests without nodes or a browser, of the packages that differ from
                      the last commit (of all if none does)
./arm test ARGUMENTS  pytest with these arguments, such as a file or -k WORD
"""
NOT_HERE = (
    "Not run here because they need a full ROS 2 (.github/workflows runs them):"
    " robot_state_publisher, rviz2, and src/*/test/launch, whose files are listed at the end."
)
TWO_MACHINES = (
    "Not run here because network namespaces need root and the command ip (Debian's iproute2):"
    " src/arm_simulation/test/system/test_two_machines_system.py and test_discovery_system.py."
)
# There are more workers than cores because tests wait, those of processes for half of their time;
# but four start browsers and arms enough.
CORES = os.cpu_count() or 1
_WITH_PROCESSES = min(CORES + 2, 4)
WORKERS = {"": _WITH_PROCESSES, "--all": _WITH_PROCESSES, "--fast": CORES + 1}
# The tests of a file stay together because they share nodes; the plugin orders the files. A worker
# is not replaced: pytest-xdist would repeat the test that ended it for ever.
PARALLEL = (
    *("-q", "--max-worker-restart", "0"),
    *("--dist", "loadfile", "--no-loadscope-reorder"),
)
KINDS = {
    "": ("-m", "not thorough"),
    "--all": (),
    "--fast": ("--cores", "-m", "not system and not slow and not thorough"),
}
# Not those of a package, of which pytest would take its tests for all there are.
SETTINGS = ("-c", "pyproject.toml")
CHECKED = ("src", "tools", "benchmarks", "docker", "docs")  # folders with Python


def run(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run the checks and the tests; with pytest arguments, run only pytest with these."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    paths = Paths()
    kind = arguments[0] if arguments and arguments[0] in KINDS else ""
    whole = not arguments or bool(kind)
    if "ARM_VENV" not in environment:
        return tested_with_colcon(environment, paths, kind if whole else None, arguments)
    venv.install(paths, venv.TEST_REQUIREMENTS, "Installing what the tests need")
    if shutil.which("chromium") is None:
        raise SetupError(
            "The browser tests need chromium: apt-get update && apt-get install -y chromium"
        )
    environment = environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    if whole:
        if not checked(environment, paths):
            return 1
        if kind != "--fast":
            messages_for_tests.prefix(paths)
            print(NOT_HERE, flush=True)
            if not can_be_two_machines():
                print(TWO_MACHINES, flush=True)
    workers = ("-n", str(WORKERS[kind]))
    chosen = [*workers, *PARALLEL, *KINDS[kind], *arguments[1:]] if whole else list(arguments)
    if kind == "--fast":
        chosen += changed_folders(paths)
    os.chdir(paths.repository)
    # Ctrl-C then reaches pytest, which cleans up
    return become([str(paths.python), "-m", "pytest", *SETTINGS, *chosen], environment)


def changed_folders(paths: Paths) -> list[str]:
    """Return the folders with tests, such as src/arm_tasks, that differ from the last commit.

    If there are any, the rules of tools/house are tested too: they are about all sources.
    """
    command = ["git", "status", "--porcelain", "--no-renames", "--", "src", "tools"]
    done = subprocess.run(command, cwd=paths.repository, capture_output=True, text=True)
    found = {"/".join(line[3:].split("/")[:2]) for line in done.stdout.splitlines()}
    found |= {"tools/house"} if found else set()
    return sorted(name for name in found if (paths.repository / name / "test").is_dir())


def checked(environment: dict[str, str], paths: Paths) -> bool:
    """Run linters and types unless they passed for this code; return whether they pass."""
    stamp, digest = paths.venv / ".checked", digest_of_code(paths)
    if stamp.exists() and stamp.read_text() == digest:
        print("linters and types: unchanged since they passed", flush=True)
        return True
    for name, command in checks(str(paths.python)):
        print(f"{name} ...", flush=True)
        if subprocess.run(command, cwd=paths.repository, env=environment).returncode != 0:
            print(f"{name} failed; fix it and run ./arm test again.", file=sys.stderr)
            return False
    stamp.write_text(digest)
    return True


def digest_of_code(paths: Paths) -> str:
    """Return a digest of all files that the checks read."""
    digest = hashlib.sha256()
    files = [paths.repository / name for name in ("arm", "pyproject.toml")]
    files += paths.repository.glob(".clang-*")
    for folder in CHECKED:
        files += (paths.repository / folder).rglob("*.py")
    files += kernel_sources()
    for file in (*sorted(files), venv.TEST_REQUIREMENTS):
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def can_be_two_machines() -> bool:
    """Return whether network namespaces can be created here."""
    command = shutil.which("ip")
    if command is None or os.geteuid() != 0:
        return False
    name = f"arm-may-{os.getpid()}"
    if subprocess.run([command, "netns", "add", name], capture_output=True).returncode != 0:
        return False
    return subprocess.run([command, "netns", "del", name]).returncode == 0


def checks(python: str) -> list[tuple[str, list[str]]]:
    """Return the static checks as (name, command), run in the repository."""
    sources = ":".join(map(str, sorted(REPOSITORY.glob("src/arm_*"))))
    linter = Path(python).with_name("lint-imports")
    lint = ["env", f"PYTHONPATH={sources}", str(linter), "--no-cache", "--no-logo"]
    return [
        ("ruff check", [python, "-m", "ruff", "check", "-q", "."]),
        ("ruff format --check", [python, "-m", "ruff", "format", "--check", "-q", "."]),
        *([("lint-imports", lint)] if linter.exists() else []),  # it needs Python 3.11
        ("mypy", [python, "-m", "mypy", "--no-error-summary"]),
        *kernel_checks(Path(python).parents[1]),
    ]


def kernel_sources() -> list[Path]:
    """Return the C++ files of the kernels."""
    return sorted((REPOSITORY / "src/arm_kinematics/arm_kinematics/cpp").rglob("*.?pp"))


def kernel_checks(folder: Path) -> list[tuple[str, list[str]]]:
    """Return the static checks of the kernels, with the tools of a virtual environment."""
    sources = list(map(str, kernel_sources()))
    numpy = next(folder.glob("lib/python3.*/site-packages/numpy/_core/include"), folder)
    flags = ["-std=c++17", '-DARM_SOURCES=""', "-isystem", sysconfig.get_path("include")]
    (module,) = (name for name in sources if name.endswith("module.cpp"))
    tidy = [str(folder / "bin/clang-tidy"), "-quiet", module, "--", *flags, "-isystem", str(numpy)]
    return [
        ("clang-format", [str(folder / "bin/clang-format"), "--dry-run", "-Werror", *sources]),
        ("clang-tidy", tidy),
    ]


def tested_with_colcon(
    environment: dict[str, str], paths: Paths, kind: str | None, arguments: Sequence[str]
) -> int:
    """Run the tests with a sourced ROS 2: those of a kind with colcon, others with pytest."""
    if kind is None:
        command = [sys.executable, "-m", "pytest", *SETTINGS, *arguments]
    else:
        chosen = shlex.join(["--pytest-args", *KINDS[kind], *arguments[1:]])
        colcon = f"colcon test --base-paths src --event-handlers console_cohesion+ {chosen}"
        script = f"{colcon}; code=$?; colcon test-result --verbose && exit $code"
        command = ["sh", "-c", script]
    return subprocess.run(command, cwd=paths.repository, env=environment).returncode
