# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inverse of arms with a closed form, as formulas that can be printed and evaluated."""

import arm_studio.symbolic  # noqa: F401 - reports a missing SymPy first
