# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Contact physics of an arm that servo pulses drive, with MuJoCo."""
