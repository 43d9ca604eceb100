# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find the test file of each module: in the mirrored place, or where the module's header says.

`src/PACKAGE/test/FOLDER/test_MODULE.py` tests `src/PACKAGE/PACKAGE/FOLDER/MODULE.py`. A module
that another file tests names it in its header: `# Tests: src/.../test_NAME.py`.
"""

import re
from pathlib import Path
from typing import NamedTuple

from house.layout import SOURCE, modules

MIN_COVERAGE = 0.95
HEADER_LINES = 5
_NAMED = re.compile(r"# Tests: (\S+)")
_WITHOUT_TESTS = {"entry_points.py"}


class Mirror(NamedTuple):
    """Where the tests of the modules are.

    Attributes:
        mirrored: modules whose test is in the mirrored place.
        named: the test file that the header of a module names.
        untested: modules without either.
    """

    mirrored: list[Path]
    named: dict[Path, Path]
    untested: list[Path]

    @property
    def coverage(self) -> float:
        """Return the fraction of modules whose test can be found."""
        located = len(self.mirrored) + len(self.named)
        return located / max(located + len(self.untested), 1)

    @property
    def broken(self) -> dict[Path, Path]:
        """Return the modules whose header names a file that does not exist."""
        return {module: test for module, test in self.named.items() if not test.is_file()}

    @property
    def superfluous(self) -> list[Path]:
        """Return the modules whose header names a file although the mirrored one exists."""
        return [module for module in self.mirrored if named_test(module)]


def mirrored_test(module: Path, source: Path = SOURCE) -> Path:
    """Return the path at which one looks for the tests of a module."""
    package, _, *folders, name = module.relative_to(source).parts
    return source.joinpath(package, "test", *folders, f"test_{name.lstrip('_')}")


def named_test(module: Path) -> str | None:
    """Return the test file that the header of a module names, from the repository's root."""
    for line in module.read_text(encoding="utf-8").splitlines()[:HEADER_LINES]:
        if match := _NAMED.fullmatch(line):
            return match[1]
    return None


def mirror(source: Path = SOURCE) -> Mirror:
    """Return where the tests of all modules are."""
    found = Mirror([], {}, [])
    for module in modules(source):
        if module.name in _WITHOUT_TESTS:
            continue
        if mirrored_test(module, source).is_file():
            found.mirrored.append(module)
        elif name := named_test(module):
            found.named[module] = source.parent / name
        else:
            found.untested.append(module)
    return found
