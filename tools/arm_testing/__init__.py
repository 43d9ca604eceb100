# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the tests of several packages share: processes, terminals, ROS domains, probes."""
