# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files that the page edits."""
