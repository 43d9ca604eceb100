# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Test files run side by side, so no two of them may use the same ROS domain."""

import re
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
ASSIGNED = re.compile(r"^(\w*DOMAIN\w*(?:, \w*DOMAIN\w*)*) = (.+)$", re.MULTILINE)


def test_no_two_test_files_share_a_domain():
    users = defaultdict(list)
    for file in sorted(REPOSITORY.glob("*/**/test/**/*.py")):
        for _, values in ASSIGNED.findall(file.read_text(encoding="utf-8")):
            for number in re.findall(r'(?:^|[ "])(\d+)(?=$|[,"])', values):
                users[int(number)].append(file.name)
    assert len(users) > 20
    assert {number: files for number, files in users.items() if len(files) > 1} == {}
