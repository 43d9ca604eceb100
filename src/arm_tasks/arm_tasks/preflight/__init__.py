# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Is a task possible, and if not, what is the least that would make it so (no ROS)?"""

from arm_tasks.preflight.check import Preflight, preflight
from arm_tasks.preflight.remedies import Remedy

__all__ = ["Preflight", "Remedy", "preflight"]
