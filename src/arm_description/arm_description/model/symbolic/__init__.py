# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a robot model as formulas, by SymPy, which is imported only here."""
