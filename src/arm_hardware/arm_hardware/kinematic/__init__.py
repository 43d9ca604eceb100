# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Zeros of joints, and lengths of links, from tip positions touched at known points."""
