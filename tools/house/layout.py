# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Measure the layout of src/: entries per folder, modules, lines, class names, imports.

python3 tools/house/layout.py prints the figures.
"""

import ast
import collections
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2] / "src"
MOST_ENTRIES = 12
MOST_LINES = 450  # of one file
# A package's ros/ folder translates, the bring-up starts nodes; the rest is plain Python.
ROS_FOLDERS = {"arm_tasks/bringup"}
TOP_FOLDERS = {"commands", "ros"}  # named in the contracts on imports
TESTING = "arm_testing"  # the package of what tests share, which no program imports
ROS = re.compile(
    r"rcl\w*|rosidl\w*|ros2\w*|rosbag2\w*|tf2_\w+|launch\w*|ament_\w+|\w+_(msgs|srvs|interfaces)"
)


class Program(NamedTuple):
    """A program whose reader, or auditor, must read what it imports of src/.

    Attributes:
        name: what it is.
        entries: the modules that it begins with.
        bound: the most lines that it may import.
        without: packages that it finds as plugins and that another row counts.
    """

    name: str
    entries: tuple[str, ...]
    bound: int
    without: tuple[str, ...] = ()

    def with_loaded(self, modules: Iterable[str], files: Mapping[str, Path]) -> set[str]:
        """Return its closure and those modules of src/ that it has loaded, but not for plugins."""
        own = files.keys() & modules
        plugins = {name for name in own if name.partition(".")[0] in self.without}
        return closure(self.entries, files) | (own - closure(plugins, files))


PROGRAMS = (
    Program("driver", ("arm_hardware.ros.process",), 17_000, ("arm_simulation",)),
    Program("Chain", ("arm_kinematics",), 12_000),
    Program("kinematics node", ("arm_kinematics.ros.node",), 16_500),
    Program("task server", ("arm_tasks.ros.task_server.node",), 31_000, ("arm_simulation",)),
    Program("browser view", ("arm_viewer.ros.node",), 16_000, ("arm_studio",)),
    Program("URDF", ("arm_description.robot_file.reader", "arm_description.urdf.writer"), 7_000),
)
COMPILED_BOUND = 3_500  # lines of C++


def package_files(pattern: str = "**/*.py", source: Path = SOURCE) -> list[Path]:
    """Return files of the packages without setup.py, tests, launch files and examples."""
    paths = sorted(source.glob(f"arm_*/arm_*/{pattern}"))
    return [path for path in paths if path.relative_to(source).parts[0] != TESTING]


def modules(source: Path = SOURCE) -> list[Path]:
    """Return the modules of all packages."""
    return [path for path in package_files(source=source) if path.name != "__init__.py"]


def syntax_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return _parsed(path.read_text(encoding="utf-8"))


@functools.cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_text(encoding="utf-8").count("\n")


def entries(source: Path = SOURCE) -> Mapping[Path, int]:
    """Return the number of modules and sub-packages in each folder of a package."""
    found = collections.Counter[Path]()
    for path in modules(source):
        found[path.parent] += 1
    for init in package_files("*/**/__init__.py", source):
        found[init.parents[1]] += 1
    return found


def classes(source: Path = SOURCE) -> Iterator[tuple[str, Path]]:
    """Yield the name and file of each top-level class."""
    for path in modules(source):
        for node in syntax_tree(path).body:
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
        for path in package_files(source=source)
        if not _may_import_ros(path.relative_to(source))
        for name in _imported(syntax_tree(path))
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
    deep = package_files("*/**/*", source)
    return [path for path in deep if path.name in TOP_FOLDERS and path.is_dir()]


def module_files(source: Path = SOURCE) -> dict[str, Path]:
    """Return the files of all modules of the packages by dotted name."""
    files = {}
    for path in package_files(source=source):
        parts = path.relative_to(source).with_suffix("").parts[1:]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def closure(entries: Iterable[str], files: Mapping[str, Path]) -> set[str]:
    """Return the modules that some modules import, directly or not, also inside functions.

    Imports for type checking do not count, nor do those of plugins.

    Raises:
        KeyError: an entry is not a module.
    """
    seen = set[str]()
    todo = [name for name in entries if files[name]]
    while todo:
        name = todo.pop()
        while name and name not in files:
            name = name.rpartition(".")[0]  # an object of a module, or another project's module
        if not name or name in seen:
            continue
        seen.add(name)
        todo.append(name.rpartition(".")[0])
        todo += _imports(syntax_tree(files[name]))
    return seen


@functools.cache
def _imports(module: ast.Module) -> list[str]:
    return list(_imports_in(module))


def _imports_in(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (name for other in child.orelse for name in _imports_in(other))
        else:
            yield from _imports_in(child)


def size(names: Iterable[str], files: Mapping[str, Path]) -> int:
    """Return the number of lines of modules."""
    return sum(lines(files[name]) for name in names)


def compiled_lines(source: Path = SOURCE) -> int:
    """Return the number of lines of C++."""
    return sum(map(lines, package_files("**/*.?pp", source)))


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
    files = module_files()
    for program in PROGRAMS:
        imported = size(closure(program.entries, files), files)
        print(f"{program.name:16} imports {imported:6} of {program.bound:6} lines")
    print(f"{'C++':16} {compiled_lines():14} of {COMPILED_BOUND:6} lines")
    from house.mirror import mirror

    print(f"modules that say where their tests are: {mirror().coverage:.1%}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
