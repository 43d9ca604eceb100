# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files: which of them a name may mean (`access`, `requests`), and how they are saved."""
