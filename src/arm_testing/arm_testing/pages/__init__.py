# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pages for tests: a browser, a client of the view, a camera."""
