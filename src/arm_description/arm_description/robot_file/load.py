# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What weighs: the payload of a robot file, and the masses of its links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..elements import Payload
from ..yaml_fields import Field
from .keys import PAYLOAD
from .scope import Scope, triple


def read_payload(field: Field | None, scope: Scope) -> Payload | None:
    """Read the payload.

    Raises:
        DescriptionError: something is missing or wrong.
    """
    if field is None:
        return None
    keys = PAYLOAD.read(field)
    return Payload(
        mass=scope.positive(keys["mass"]),
        centre=triple(keys["centre"], scope.length),
        size=triple(keys["size"], scope.positive_length) if "size" in keys else None,
        source=keys["source"].text() if "source" in keys else "",
    )


def read_masses(field: Field | None, links: Iterable[str], scope: Scope) -> Mapping[str, float]:
    """Read the masses of links [kg].

    Args:
        field: the section.
        links: names of the links that weigh something.
        scope: units and constants.

    Raises:
        DescriptionError: there is no such link, or a mass is not above 0.
    """
    named = field.mapping(links) if field else {}
    return MappingProxyType({link: scope.positive(mass) for link, mass in named.items()})
