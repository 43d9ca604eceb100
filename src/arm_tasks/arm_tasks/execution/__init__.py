# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Execution of plans, step by step, through a port."""
