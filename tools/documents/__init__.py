# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tools for the documents: generated reference pages, tested commands, the site."""
