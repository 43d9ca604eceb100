# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Design of arms that move evenly, and charts of how evenly an arm moves."""
