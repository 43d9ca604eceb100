# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The derivation of an arm's kinematics, as a page for students and teachers."""

import arm_studio.symbolic  # noqa: F401 - reports a missing SymPy first
