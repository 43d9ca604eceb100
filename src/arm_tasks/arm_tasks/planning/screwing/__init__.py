# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Planning of unscrew and screw_on."""
