# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The linters of ROS 2 accept the package."""

from arm_testing.linters import test_copyright, test_xmllint

__all__ = ["test_copyright", "test_xmllint"]
