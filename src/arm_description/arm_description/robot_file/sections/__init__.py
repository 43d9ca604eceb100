# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Readers of the parts of a robot file beside its table."""
