# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels of the page that call services and publish commands."""
