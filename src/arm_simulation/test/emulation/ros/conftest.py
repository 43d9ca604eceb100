# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests of the node."""

from arm_testing.hardware.node_fixtures import client, start  # noqa: F401
