# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Exercise sheets of a class: individual numbers for each student, solutions, grading, Moodle."""
