# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of arm_common."""

from hypothesis import settings

# How fast an example runs depends on what else the machine does; it proves nothing.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
