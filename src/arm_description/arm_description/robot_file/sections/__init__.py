# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Readers of the sections of a robot file beside its table; most are imported where needed."""
