# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers shared by the tests of several packages: processes, terminals, ROS domains, probes."""
