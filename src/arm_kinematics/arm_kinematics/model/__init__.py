# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a chain is built from: screws, joints and links of a DH table or a URDF."""
