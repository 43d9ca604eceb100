# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Creates .venv, installs the pinned wheels, and repairs a broken or incomplete .venv."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from .environment import wheel_environment
from .errors import SetupError
from .paths import TOOLS, Paths
from .progress import StatusLine, run_logged, say

REQUIREMENTS = TOOLS / "requirements.lock"  # generated from requirements.txt by lock.py
TEST_REQUIREMENTS = TOOLS / "requirements-test.lock"
BUILD_PREFIX = "/opt/python/cp3"  # the build path of the wheels, which their CMake files contain
# In rosidl_parser. Seven generators parse the same files, which takes most of their time: each
# package keeps in its build folder what the first of them found.
PARSES = "    return _parser.parse(idl_string)\n"
PARSES_ONCE = """\
    import hashlib, os, pathlib, pickle

    kept = pathlib.Path("parsed-" + hashlib.sha256(idl_string.encode()).hexdigest())
    if not kept.exists():
        part = pathlib.Path(f"{kept}-{os.getpid()}")
        part.write_bytes(pickle.dumps(_parser.parse(idl_string)))
        part.replace(kept)
    return pickle.loads(kept.read_bytes())
"""

READS_PATHS = 'file(STRINGS "${idl_output}" idl_tuples)'  # in rosidl_adapter: ends at an umlaut


def fingerprint(paths: Paths, requirements: Path) -> str:
    """Return a string that changes with everything an installation depends on."""
    content = requirements.read_bytes() + sys.version.encode() + str(paths.venv).encode()
    return hashlib.sha256(content).hexdigest()


def is_installed(paths: Paths, requirements: Path) -> bool:
    """Return whether exactly these requirements are installed and the interpreter works."""
    mark, kept = read_stamp(stamp_file(paths, requirements))
    same = mark == fingerprint(paths, requirements) and kept <= contents(paths)
    return same and interpreter_works(paths)


def read_stamp(stamp: Path) -> tuple[str, set[str]]:
    """Return the fingerprint of a complete installation and what it installed; else nothing."""
    try:
        mark, *kept = stamp.read_text(errors="replace").splitlines() or [""]
    except OSError:  # missing, a folder, or not readable by this user
        return "", set()
    return mark, set(kept)


def contents(paths: Paths) -> set[str]:
    """Return the names of installed programs, libraries and Python packages."""
    folders = [paths.venv / "bin", paths.venv / "lib", paths.venv / "share"]
    folders += (paths.venv / "lib").glob("python3.*/site-packages")
    files = (file for folder in folders if folder.is_dir() for file in folder.iterdir())
    passing, begin = (".dist-info", "__pycache__"), len(f"{paths.venv}/")
    return {str(file)[begin:] for file in files if not file.name.endswith(passing)}


def is_complete(paths: Paths) -> bool:
    """Return whether nothing that was installed has been deleted since; pip would not notice."""
    stamps = (stamp_file(paths, each) for each in (REQUIREMENTS, TEST_REQUIREMENTS))
    return all(read_stamp(stamp)[1] <= contents(paths) for stamp in stamps)


def stamp_file(paths: Paths, requirements: Path) -> Path:
    """Return the file that marks an installation as complete."""
    return paths.venv / f".installed-{requirements.stem}"


def place_file(paths: Paths) -> Path:
    """Return the file with the path where .venv was created, which its programs contain."""
    return paths.venv / ".place"


def is_at_its_place(paths: Paths) -> bool:
    """Return whether .venv is where it was created, not moved or copied with the clone."""
    try:
        return place_file(paths).read_text() == str(paths.venv)
    except OSError:
        return False


def interpreter_works(paths: Paths) -> bool:
    """Return whether the interpreter of .venv starts and has this Python's version."""
    try:
        if paths.python.samefile(sys.executable):
            return True
        answer = subprocess.run(
            [paths.python, "-S", "-c", "import sys; print(sys.version)"],
            capture_output=True,
            text=True,
            timeout=30,
            env=wheel_environment(paths),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == sys.version


def make_venv(paths: Paths) -> None:
    """Create an empty virtual environment unless there is a working one."""
    has_pip = (paths.venv / "bin" / "pip").exists()
    works = is_at_its_place(paths) and has_pip and interpreter_works(paths)
    if works and is_complete(paths):
        return
    if os.path.lexists(paths.venv):
        say("The .venv here is damaged, moved, or of another Python; creating it again.")
        remove(paths)
    line = StatusLine("Creating .venv")
    result = subprocess.run(
        [sys.executable, "-m", "venv", str(paths.venv)], capture_output=True, text=True
    )
    if result.returncode != 0:
        raise SetupError(
            f"Python cannot create a virtual environment: {result.stdout}{result.stderr}".strip()
        )
    place_file(paths).write_text(str(paths.venv))
    line.done("done")


def install(paths: Paths, requirements: Path, title: str) -> None:
    """Install a lock file into .venv unless it is installed.

    pip rejects files with other hashes and installs nothing that the lock file does not list.
    """
    if is_installed(paths, requirements):
        return
    make_venv(paths)
    stamp_file(paths, requirements).unlink(missing_ok=True)
    command = [
        str(paths.python),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
        "--no-compile",
    ]
    command += ["--no-input", "--no-deps", "--require-hashes", "-r", str(requirements)]
    run_logged(
        command,
        paths.logs / f"pip-{requirements.stem}.log",
        PipProgress(),
        title,
        wheel_environment(paths),
        paths.repository,
    )
    if requirements == REQUIREMENTS:
        mend_cmake_files(paths)
        for parser in (paths.venv / "lib").glob("python3.*/site-packages/rosidl_parser/parser.py"):
            parser.write_text(parser.read_text().replace(PARSES, PARSES_ONCE))
    line = StatusLine("Compiling their Python code")
    byte_compile(paths, paths.venv / "lib")
    line.done("done")
    lines = [fingerprint(paths, requirements), *sorted(contents(paths))]
    stamp_file(paths, requirements).write_text("\n".join(lines))


def byte_compile(paths: Paths, folder: Path) -> None:
    """Write the bytecode of installed packages, which takes a third of a node's start otherwise.

    On all cores, and not that of tests. Python falls back to the sources where it is missing, so a
    failure does not matter.
    """
    command = [str(paths.python), "-m", "compileall", "-qq", "-j", "0", "-x", "/tests?/"]
    subprocess.run([*command, str(folder)], cwd=paths.venv, capture_output=True, check=False)


class PipProgress:
    """Condenses pip's output to the number of packages and the current one."""

    def __init__(self) -> None:
        self._seen = 0

    def __call__(self, line: str) -> str | None:
        """Return the text to show for one line of pip's output, or None."""
        if line.startswith("Collecting "):
            self._seen += 1
            return f"{self._seen} packages, {line.split()[1]}"
        if line.startswith("Installing collected packages"):
            return f"unpacking {line.count(',') + 1} packages"
        return None


def mend_cmake_files(paths: Paths) -> None:
    """Point the wheels' CMake files to this interpreter, and let them read paths beyond ASCII."""
    include = sysconfig.get_path("include")
    site = str(paths.venv / "lib" / f"python3.{sys.version_info.minor}" / "site-packages")
    for file in (paths.venv / "share").rglob("*"):
        if not file.is_file() or file.suffix not in ("", ".cmake"):
            continue
        read = text = file.read_bytes().decode("utf-8", errors="surrogateescape")
        prefix = re.escape(BUILD_PREFIX) + r"\d+-cp\d+"
        text = re.sub(prefix + r"/include/python3\.\d+", include, text)
        text = re.sub(prefix + r"/lib/python3\.\d+/site-packages", site, text)
        text = re.sub(prefix, str(paths.venv), text)
        text = text.replace(READS_PATHS, READS_PATHS[:-1] + " ENCODING UTF-8)")
        if text != read:
            file.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def remove(paths: Paths) -> None:
    """Remove .venv with everything in it; of a link, only the link."""
    if paths.venv.is_symlink() or paths.venv.is_file():
        paths.venv.unlink()
    elif paths.venv.exists():
        shutil.rmtree(paths.venv)
