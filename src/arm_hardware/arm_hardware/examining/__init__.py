# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the doctor looks at; every part returns findings and changes nothing."""
