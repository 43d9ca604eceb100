# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A publishing node, programs under test, and the page of a browser."""

from arm_testing.pages.page import urdf  # noqa: F401
from arm_testing.ros.programs import browser_page, model, ros, start  # noqa: F401
