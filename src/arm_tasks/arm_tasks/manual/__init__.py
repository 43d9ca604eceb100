# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Manual operation: jogging, following, teaching, touching bolts."""
