# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Generates the page of all files' keys from the tables that their readers use."""

from arm_common.yaml.json_schema import key_reference
from arm_common.yaml.schema_types import Either, Kind
from arm_description.trajectories.formats import FUNCTIONS, POINTS
from arm_hardware.calibration.file import CALIBRATION
from arm_hardware.calibration.kinematic_fit import FILE
from arm_tasks.scene.poses import POSES

from .markdown import page

ELSEWHERE = """\
| file | who reads it | its keys |
|---|---|---|
| robot | everybody | [robot file](../../src/arm_description/README.md#every-key) |
| task | `check`, `demo`, the task server | [tasks](tasks.md) |
| scene | the same, `scene` | [scenes](scenes.md) |
| trajectory | `play`, `trajectory`, tasks | [YAML](#trajectories), [CSV](trajectories.md#csv) |
| calibration of servos | the driver, `calibrate`, `verify` | [below](#calibration-of-servos) |
| touched points | `calibrate_kinematics` | [below](#touched-points) |
| taught poses | tasks, `teach` | [below](#taught-poses) |

Bold keys are required. Errors in a file name its line, the key and the remedy."""
BELOW: dict[str, tuple[str, Kind]] = {
    "Calibration of servos": ("One file for each physical arm, such as [nut_arm_servos.yaml]"
                              "(../../src/arm_hardware/config/nut_arm_servos.yaml).", CALIBRATION),
    "Trajectories": ("Points in time, or functions of it, as [described](trajectories.md#yaml).",
                     Either((POINTS, FUNCTIONS))),
    "Touched points": ("Known points touched with the tip, for "
                       "[calibration](../tutorials/calibration.md).", FILE),
    "Taught poses": ("Written by [teaching](teach.md), and by hand if you like.", POSES),
}  # fmt: skip


def files_page() -> str:
    """Return the page of the keys of all files."""
    parts = [ELSEWHERE]
    for title, (text, kind) in BELOW.items():
        parts += [f"## {title}", text, key_reference({"": kind})]
    return page("Files and their keys", *parts)
