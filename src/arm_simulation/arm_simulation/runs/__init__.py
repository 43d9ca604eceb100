# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs of a plan in a simulated world: the reference, in contact physics, trials with errors."""
