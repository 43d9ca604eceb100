# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The ways in which editors save a file, and what a watch tells of them."""

from arm_common.files.watching import MAX_MISSES


def polls(watch, count=MAX_MISSES + 1):
    return [content for content in (watch.poll() for _ in range(count)) if content is not None]


def by_rename(path, text):
    beside = path.with_name("#new#")
    beside.write_text(text)
    beside.replace(path)


def in_place(path, text):
    path.write_text(text)
