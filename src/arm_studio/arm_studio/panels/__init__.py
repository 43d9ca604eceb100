# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Panels that it adds to the browser's page."""
