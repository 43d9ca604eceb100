# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The definition of a message with all that it is made of, as MCAP's encoding ros2msg wants it.

The text of the .msg file, then of each other type that occurs in it, set apart by a line of 80
equals signs and "MSG: package/Type" (https://mcap.dev/spec/registry#ros2msg). No ROS in here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

RULE = "=" * 80
# A field: a type, perhaps with a bound or as an array, and a name; or a constant, with "=".
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*")
_PLAIN = {
    "bool",
    "byte",
    "char",
    "float32",
    "float64",
    "string",
    "wstring",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


def schema_text(name: str, read: Callable[[str], str]) -> str:
    """Return the whole definition of a type.

    Args:
        name: "package/Type".
        read: Returns the text of the .msg file of such a name.
    """
    texts = {name: read(name)}
    waiting = [name]
    while waiting:
        for other in parts(waiting.pop(), texts):
            if other not in texts:
                texts[other] = read(other)
                waiting.append(other)
    first, *others = texts.values()
    names = list(texts)[1:]
    return first + "".join(
        f"\n{RULE}\nMSG: {other}\n{text}" for other, text in zip(names, others, strict=True)
    )


def parts(name: str, texts: dict[str, str]) -> list[str]:
    """Return the types, as "package/Type", of the fields of a type."""
    package = name.split("/")[0]
    found = []
    for line in texts[name].splitlines():
        match = _FIELD.match(line.split("#")[0])
        if match is None or match[1] in _PLAIN:
            continue
        kind = match[1].replace("/msg/", "/")
        found.append(kind if "/" in kind else f"{package}/{kind}")
    return found
