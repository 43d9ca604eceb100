# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The documents: reference pages made from the code, commands that are run, the site."""
