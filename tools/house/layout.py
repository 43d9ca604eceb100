# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Measure the layout of src/: entries per folder, modules, lines, class names, imports of ROS.

python3 tools/house/layout.py prints the figures.
"""

import ast
import collections
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MOST_ENTRIES = 12
MOST_LINES = 450  # of one file
# A package's ros/ folder translates, the bring-up starts nodes; the rest is plain Python.
ROS_FOLDERS = {"arm_tasks/bringup"}
TOP_FOLDERS = {"commands", "ros", "simulation"}  # named in the contracts on imports
_FILES = "arm_*/arm_*/**/*.py"  # without setup.py, tests, launch files and examples
ROS = re.compile(
    r"rcl\w*|rosidl\w*|ros2\w*|rosbag2\w*|tf2_\w+|launch\w*|ament_\w+|\w+_(msgs|srvs|interfaces)"
)


def modules(source: Path = SOURCE) -> list[Path]:
    """Return the modules of all packages."""
    return sorted(path for path in source.glob(_FILES) if path.name != "__init__.py")


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


def ros_imports(source: Path = SOURCE) -> list[str]:
    """Return the imports of ROS, and their files, in folders that must not have them."""
    return [
        f"{path.relative_to(source)}: {name}"
        for path in sorted(source.glob(_FILES))
        if not _may_import_ros(path.relative_to(source))
        for name in _imported(ast.parse(path.read_text(encoding="utf-8")))
        if ROS.fullmatch(name.partition(".")[0])
    ]


def _may_import_ros(path: Path) -> bool:
    _, package, folder, *_ = path.parts
    return folder == "ros" or f"{package}/{folder}" in ROS_FOLDERS


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def nested_top_folders(source: Path = SOURCE) -> list[Path]:
    """Return the folders that only the top level of a package may have, but that lie deeper."""
    deep = source.glob("arm_*/arm_*/*/**/*")
    return [path for path in deep if path.name in TOP_FOLDERS and path.is_dir()]


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
