# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import runpy
import xml.etree.ElementTree as ET
from types import SimpleNamespace

from arm_testing.repository import repository

REPOSITORY = repository()
FILE = REPOSITORY / "docs/figures/make_wiring.py"
wiring = SimpleNamespace(**runpy.run_path(str(FILE)))


def words(svg):
    return [element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]


def test_wiring_diagram_is_up_to_date():
    why = "run ./arm exec python3 docs/figures/make_wiring.py"
    assert wiring.TARGET.read_text(encoding="utf-8") == wiring.picture(), why


def test_each_servo_is_drawn_on_its_channel(calibration):
    said = words(wiring.picture())
    for name, servo in calibration.servos.items():
        assert said[said.index(name) + 1] == f"channel {servo.channel}"


def test_pins_match_the_table_of_wires():
    page = (REPOSITORY / "docs/hardware.md").read_text(encoding="utf-8")
    for pin, board in wiring.WIRES.items():
        assert any(row.startswith(f"| {pin} (") and board in row for row in page.splitlines()), (
            f"pin {pin} to {board}"
        )
