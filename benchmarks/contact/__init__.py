# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jaws without an arm, in contact physics and by the rules of geometry."""
