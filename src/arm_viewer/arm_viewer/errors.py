# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The package's exceptions; each message names the cause and the remedy."""

from __future__ import annotations


class ViewerError(ValueError):
    """Something cannot be shown; the message names it and the remedy."""


class MarkerError(ViewerError):
    """A marker that cannot be drawn.

    Attributes:
        namespace: The marker's `ns`.
        id: The marker's `id`.
    """

    def __init__(self, namespace: str, id: int, problem: str) -> None:
        self.namespace = namespace
        self.id = id
        super().__init__(f'marker "{namespace}" {id}: {problem}')


class MeshError(ViewerError):
    """A mesh file that cannot be read.

    Attributes:
        uri: The file's URI as given.
    """

    def __init__(self, uri: str, problem: str) -> None:
        self.uri = uri
        super().__init__(f"mesh {uri}: {problem}")


class MissingPackageError(ViewerError):
    """A Python package that the viewer needs is not installed.

    Attributes:
        package: Its name on PyPI.
    """

    def __init__(self, package: str, purpose: str) -> None:
        self.package = package
        super().__init__(
            f"the Python package {package} is missing ({purpose}); "
            f"install it with: python3 -m pip install {package}"
        )


class BrowserError(ViewerError):
    """The headless browser does not start, or shows no scene."""


class ServerError(ViewerError):
    """The browser view cannot be served at the requested address."""
