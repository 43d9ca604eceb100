# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One finds the tests of a module in the mirrored place, or by its header."""

import pytest
from house.layout import SOURCE
from house.mirror import MIN_COVERAGE, mirror, mirrored_test


def test_nearly_all_modules_say_where_their_tests_are():
    found = mirror()
    missing = [str(path.relative_to(SOURCE)) for path in found.untested]
    assert found.coverage >= MIN_COVERAGE, missing
    assert found.mirrored and found.named


def test_every_test_file_that_a_module_names_exists():
    assert not mirror().broken


def test_no_module_names_a_test_file_beside_its_own():
    assert not mirror().superfluous


@pytest.fixture
def source(tmp_path):
    """A package with a tested, a named, a misled and an untested module."""
    source = tmp_path / "src"
    folder, tests = source / "arm_a/arm_a/part", source / "arm_a/test/part"
    folder.mkdir(parents=True)
    tests.mkdir(parents=True)
    header = "# Tests: src/arm_a/test/part/test_{}.py\n"
    (folder / "__init__.py").write_text("")
    (folder / "entry_points.py").write_text("")
    (folder / "_tested.py").write_text("")
    (folder / "named.py").write_text(header.format("tested"))
    (folder / "misled.py").write_text(header.format("nothing"))
    (folder / "untested.py").write_text("\n" * 10 + header.format("tested"))  # not a header
    (tests / "test_tested.py").write_text("")
    return source


def test_each_module_is_counted_once(source):
    found = mirror(source)
    assert [path.stem for path in found.mirrored] == ["_tested"]
    assert {path.stem for path in found.named} == {"named", "misled"}
    assert [path.stem for path in found.untested] == ["untested"]
    assert found.coverage == 0.75
    assert [path.stem for path in found.broken] == ["misled"]


def test_header_beside_a_mirrored_test_is_superfluous(source):
    module = source / "arm_a/arm_a/part/_tested.py"
    module.write_text("# Tests: src/arm_a/test/part/test_tested.py\n")
    assert mirror(source).superfluous == [module]
    assert mirrored_test(module, source).is_file()
