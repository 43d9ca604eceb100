# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm for MoveIt: its SRDF and its configuration package."""
