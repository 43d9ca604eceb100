# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The passes of arm_common.time_scaling, compiled."""

from __future__ import annotations

from functools import lru_cache

from arm_common.jit import allocating_kernel, fix_types

from arm_common import time_scaling

backward_pass = allocating_kernel(time_scaling.backward_pass)
forward_pass = allocating_kernel(time_scaling.forward_pass)


@lru_cache(maxsize=1)
def prepare_timing() -> None:
    """Compile the time scaling, unless it is compiled."""
    fix_types(backward_pass, (2, 2), (1,))
    fix_types(forward_pass, (2, 2), (1,))
