# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recording runs, replaying them, and exporting them as pictures."""
