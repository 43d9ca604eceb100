# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The numeric core: C++ (cpp/), compiled to `compiled`, and the records that it shares (`layout`).

Raises:
    NotBuiltError: The compiled module is missing, of another Python, or of other sources.
"""

from arm_common.errors import NotBuiltError
from arm_common.suggestions import build_command

from arm_kinematics.kernels import layout

try:
    from arm_kinematics.kernels import compiled
except ImportError as error:
    raise NotBuiltError(
        f"the compiled kernels of arm_kinematics cannot be loaded ({error}); build them: "
        f"{build_command('arm_kinematics')}"
    ) from error

if (
    layout.record_sizes() != compiled.RECORD_SIZES
    or (layout.digest() or compiled.SOURCES) != compiled.SOURCES  # not installed
):
    raise NotBuiltError(
        "the compiled kernels of arm_kinematics are of other sources; build them again: "
        f"{build_command('arm_kinematics')}"
    )
