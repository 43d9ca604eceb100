# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The world by geometry alone: the nut, in the jaws, on bolts and pins, and the payloads."""
