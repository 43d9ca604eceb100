# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files: which of them a name may mean, and how they are saved (`saving`)."""

from arm_common.files.access import (
    ANY_FILE,
    FileAccess,
    RecordedFiles,
    RestrictedFiles,
    SentFiles,
    folders_in,
    installed_share,
    share_folders,
    shipped_files,
)

__all__ = [
    "ANY_FILE",
    "FileAccess",
    "RecordedFiles",
    "RestrictedFiles",
    "SentFiles",
    "folders_in",
    "installed_share",
    "share_folders",
    "shipped_files",
]
