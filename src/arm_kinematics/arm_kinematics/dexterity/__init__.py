# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How well an arm can move: measures at a posture, the best posture, what it reaches, loads."""
