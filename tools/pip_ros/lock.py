# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Regenerate the lock files: pipx install uv, then ./arm exec python3 tools/pip_ros/lock.py.

uv resolves the versions for all Pythons at once and lists their files with SHA-256. Only files
that Linux x86-64 can use are kept: wheels, or the source if there is none. Versions in the present
lock files stay unless --upgrade is given.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import Marker

TOOLS = Path(__file__).resolve().parent
OLDEST = "3.10"
PYTHONS = range(10, 15)  # 3.10 to 3.14
PLACES = [
    {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"3.{minor}.{patch}",
        "python_version": f"3.{minor}",
        "sys_platform": "linux",
    }
    for minor in PYTHONS
    for patch in (0, 20)
]
HEAD = """\
# Made from {name} by tools/pip_ros/lock.py: every package with the SHA-256 of each of its files
# on PyPI that Linux x86-64 and CPython 3.10 to 3.14 can use.
"""
_WHEEL = re.compile(r"-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl$")


def fits(wheel: str) -> bool:
    """Return whether a wheel suits Linux x86-64 with glibc and a supported CPython."""
    found = _WHEEL.search(wheel)
    if found is None:
        return False
    platforms = found["platform"].split(".")
    if not any(p == "any" or re.fullmatch(r"(many)?linux.*x86_64", p) for p in platforms):
        return False
    pythons = {f"{kind}3{minor}" for kind in ("cp", "py") for minor in PYTHONS} | {"py3"}
    return found["abi"] == "abi3" or not pythons.isdisjoint(found["python"].split("."))


def entries(lock: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name==version with its marker, and the lines, of each package."""
    for package in lock["packages"]:
        marker = package.get("marker", "")
        if marker and not any(Marker(marker).evaluate(place) for place in PLACES):
            continue
        wheels = [w for w in package.get("wheels", ()) if fits(_file_name(w))]
        files = wheels or [package["sdist"]]
        hashes = sorted(file["hashes"]["sha256"] for file in files)
        pin = f"{package['name']}=={package['version']}"
        first = f"{pin} ; {marker}" if marker else pin
        yield first, " \\\n    ".join([first, *(f"--hash=sha256:{value}" for value in hashes)])


def _file_name(file: Mapping[str, Any]) -> str:
    return str(file.get("name") or file["url"].rpartition("/")[2])


def solved(requirements: Path, constraints: Iterable[str]) -> Mapping[str, Any]:
    """Return uv's resolution of a requirements file."""
    with tempfile.TemporaryDirectory() as folder:
        bounds, out = Path(folder, "constraints.txt"), Path(folder, "pylock.toml")
        bounds.write_text("\n".join(constraints) + "\n")
        command = ["uv", "pip", "compile", "-q", "--universal", "--python-version", OLDEST]
        command += ["--generate-hashes", "--format", "pylock.toml", "-c", str(bounds)]
        subprocess.run([*command, "-o", str(out), str(requirements)], check=True)
        # from Python 3.11; the rest of this file is used by 3.10 too
        import tomllib  # type: ignore[import-not-found]

        found: Mapping[str, Any] = tomllib.loads(out.read_text())
        return found


def pins(lock: Path) -> list[str]:
    """Return the pins in a lock file, without the hashes."""
    lines = lock.read_text().splitlines() if lock.exists() else []
    return [line.removesuffix(" \\") for line in lines if "==" in line and line[0] not in " #"]


def main(arguments: Sequence[str]) -> None:
    """Write both lock files; the second has only packages missing in the first."""
    names = ("requirements", "requirements-test")
    locks = [TOOLS / f"{name}.lock" for name in names]
    kept = [] if "--upgrade" in arguments else [pin for lock in locks for pin in pins(lock)]
    before: dict[str, str] = {}
    for lock in locks:
        requirements = lock.with_suffix(".txt")
        found = dict(entries(solved(requirements, [*kept, *before])))
        new = {first: text for first, text in found.items() if first not in before}
        text = HEAD.format(name=requirements.name) + "\n".join(new.values()) + "\n"
        lock.write_text(text)
        before |= found
        kept = [pin for pin in kept if pin not in before]


if __name__ == "__main__":
    main(sys.argv[1:])
