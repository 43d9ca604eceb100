# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Making and changing calibration files."""
