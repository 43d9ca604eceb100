# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hardware for tests: buses, pins, drivers over emulated chips, systemd units."""
