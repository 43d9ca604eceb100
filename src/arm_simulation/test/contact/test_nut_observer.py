# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What happens to the nut by its poses and contacts alone."""

from dataclasses import replace

import numpy as np
import pytest
from arm_simulation.contact.world import NutObserver, NutTruth
from arm_tasks.scene.nut_state import NutEvent, NutStatus

START = NutTruth(np.eye(4), "a", 3.0, 0.0, 0.0, 1.0, False)


@pytest.mark.parametrize(
    ("change", "status", "event"),
    [
        ({"jaw_force": 5.0}, NutStatus.ON_BOLT_HELD, NutEvent.GRIPPED),
        ({"bolt": "", "jaw_force": 5.0, "turns_engaged": 0.0}, NutStatus.HELD, NutEvent.UNKNOWN),
        ({"bolt": "", "fallen": True}, NutStatus.FALLEN, NutEvent.DROPPED),
        ({"bolt": ""}, NutStatus.ON_BOLT, NutEvent.START),  # in flight
    ],
)
def test_change_of_the_truth_is_an_event(change, status, event):
    report = NutObserver(START).update(replace(START, **change))
    assert (report.status, report.event) == (status, event)
    assert report.grasped == (change.get("jaw_force", 0.0) > 0.0)


def test_nut_is_carried_from_bolt_to_bolt():
    observer, seen = NutObserver(START), []
    held = replace(START, jaw_force=5.0)
    free = replace(held, bolt="", turns_engaged=0.0)
    for truth in (held, free, replace(held, bolt="b"), replace(START, bolt="b")):
        seen.append(observer.update(truth).event)
    wanted = [NutEvent.GRIPPED, NutEvent.CAME_FREE, NutEvent.SEATED, NutEvent.RELEASED]
    assert seen == wanted
    assert observer.report.message == "the jaws released the nut on b, 3.0 turns engaged"
