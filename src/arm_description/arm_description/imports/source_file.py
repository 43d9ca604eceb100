# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the text file that is to be imported."""

from __future__ import annotations

from pathlib import Path

from ..errors import DescriptionError

MAX_BYTES = 32_000_000


def read_source(path: Path) -> str:
    """Text of a file.

    Raises:
        DescriptionError: it cannot be read, is too large, or is not UTF-8.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise DescriptionError(
            f"cannot be read ({error.strerror})", remedy="check the path", file=str(path)
        ) from None
    except UnicodeDecodeError:
        raise DescriptionError(
            "is not UTF-8 text", remedy="save it as UTF-8", file=str(path)
        ) from None
    if len(data) > MAX_BYTES:
        raise DescriptionError(
            "is larger than 32 MB", remedy="is it the right file?", file=str(path)
        )
    return text
