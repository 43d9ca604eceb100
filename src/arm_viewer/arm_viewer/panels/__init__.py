# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels of the page: one file each behind one interface, none knows another."""
