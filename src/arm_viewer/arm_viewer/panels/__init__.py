# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folders of the page's panel: one file each behind one interface, none knows another."""
