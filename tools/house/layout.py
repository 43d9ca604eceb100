# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Measure the layout of src/: entries per folder, modules, lines, class names used twice.

python3 tools/house/layout.py prints the figures.
"""

import ast
import collections
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MOST_ENTRIES = 12
MOST_MODULES = 320
MOST_LINES = 450  # of one file
_NOT_MODULES = {"__init__.py", "setup.py", "conftest.py"}
_NOT_SOURCE = {"test", "launch", "examples"}


def modules(source: Path = SOURCE) -> list[Path]:
    """Return the modules of all packages, without tests, launch files and examples."""
    return sorted(
        path
        for path in source.glob("arm_*/**/*.py")
        if path.name not in _NOT_MODULES and not _NOT_SOURCE & set(path.parts)
    )


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_text(encoding="utf-8").count("\n")


def entries(source: Path = SOURCE) -> Mapping[Path, int]:
    """Return the number of modules and sub-packages in each folder of a package."""
    found = collections.Counter[Path]()
    for path in modules(source):
        found[path.parent] += 1
    for init in source.glob("arm_*/arm_*/*/**/__init__.py"):
        found[init.parents[1]] += 1
    return found


def classes(source: Path = SOURCE) -> Iterator[tuple[str, Path]]:
    """Yield the name and file of each top-level class."""
    for path in modules(source):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield node.name, path


def repeated_classes(source: Path = SOURCE) -> dict[str, list[Path]]:
    """Return the class names that are defined more than once, with their files."""
    found = collections.defaultdict[str, list[Path]](list)
    for name, path in classes(source):
        found[name].append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def main() -> None:
    """Print the figures of every package and the totals."""
    by_package = collections.defaultdict[str, list[int]](list)
    for path in modules():
        by_package[path.relative_to(SOURCE).parts[0]].append(lines(path))
    tests = sum(lines(path) for path in SOURCE.glob("arm_*/test/**/*.py"))
    for package, counts in by_package.items():
        print(f"{package:16} {len(counts):4} modules {sum(counts):6} lines")
    total = [count for counts in by_package.values() for count in counts]
    print(f"{'all':16} {len(total):4} modules {sum(total):6} lines, tests {tests} lines")
    print(f"most entries in a folder: {max(entries().values())}")
    print(f"class names with more than one meaning: {len(repeated_classes())}")


if __name__ == "__main__":
    main()
