# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Numba where it is installed, plain Python where it is not, and a cache that always works.

Numba keeps compiled code next to the source or under the home folder, and refuses to compile with
caching if neither can be written. It also watches only the file that holds a function, not the
files of the functions that it calls. Hence here: a folder of our own, named after a digest of all
kernel sources, in the first place that can be written.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

_LOGGER = logging.getLogger(__name__)
_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).parents[1]
_KERNELS = "kernels", "ik"  # the folders that hold kernels

try:
    if os.environ.get("ARM_KINEMATICS_NO_NUMBA"):
        raise ImportError("switched off by ARM_KINEMATICS_NO_NUMBA")
    import numba

    HAVE_NUMBA = True
except ImportError as error:
    HAVE_NUMBA = False
    _LOGGER.warning(
        "numba is not used (%s): the same kinematics run as plain Python, some hundred times "
        "slower; install it with 'pip install numba' or 'apt install python3-numba'",
        error,
    )


def kernel(function: _F) -> _F:
    """Compile a function of scalars and float64 arrays; without Numba, return it unchanged.

    Division by zero gives inf or nan as in NumPy, products and sums may be fused, and the global
    interpreter lock is released while the function runs.
    """
    if not HAVE_NUMBA:
        return function
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract", "nsz", "arcp"},
    }
    with _numba_cache_dir(cache_folder()) as cached:
        try:
            return cast(_F, numba.njit(cache=cached, **options)(function))
        except RuntimeError as error:  # Numba's way to say that it found no place for its cache
            _LOGGER.warning("compiled kinematics cannot be kept on disk: %s", error)
    return cast(_F, numba.njit(**options)(function))


def fix_types(function: Callable[..., Any], inputs: Sequence[int], results: Sequence[int]) -> None:
    """Compile a kernel for C-contiguous float64 arrays now, and for nothing else later.

    Inputs may be read-only arrays. Without this, the first call with a read-only array, say, would
    compile again, in the middle of someone's request.

    Args:
        function: What `kernel` returned.
        inputs: Number of dimensions of each input array.
        results: Number of dimensions of each array to be filled, which come last.
    """
    if not HAVE_NUMBA:
        return
    array, number = numba.types.Array, numba.types.float64
    signature = tuple(array(number, d, "C", readonly=True) for d in inputs)
    signature += tuple(array(number, d, "C") for d in results)
    function.compile(signature)  # type: ignore[attr-defined]
    function.disable_compile()  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Return the folder for compiled code, created; None if nothing can be written anywhere."""
    name = f"arm_kinematics-{_digest()}"
    for base in _candidates():
        folder = base / name
        if _private_and_writable(folder):
            _take_over(_installed(), folder)
            return folder
    return None


def _installed() -> Path:
    """Return the folder beside the source."""
    return _PACKAGE / "__pycache__" / f"arm_kinematics-{_digest()}"


def finish_installation() -> None:
    """Let others read what was compiled beside the source, and remove what is of other sources."""
    if (folder := cache_folder()) == _installed():
        folder.chmod(0o755)
        for other in folder.parent.glob("arm_kinematics-*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)


def _take_over(installed: Path, folder: Path) -> None:
    """Fill a new folder with what was compiled at an installation that is read-only to us."""
    with suppress(OSError):
        if folder != installed and _is_private(installed) and not any(folder.iterdir()):
            shutil.copytree(installed, folder, dirs_exist_ok=True)


def _candidates() -> Iterator[Path]:
    """Yield the places to try: chosen by the user, beside the source, home, temporary folder."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    yield _PACKAGE / "__pycache__"
    if cache_home := os.environ.get("XDG_CACHE_HOME"):
        yield Path(cache_home)
    if home := os.environ.get("HOME"):
        yield Path(home) / ".cache"
    with suppress(OSError):  # there may be no temporary folder at all
        yield Path(tempfile.gettempdir()) / f"arm_kinematics-{os.getuid()}"


def _digest() -> str:
    """Return a short digest of every kernel source, so that no stale code is ever loaded."""
    digest = hashlib.sha256()
    for folder in _KERNELS:
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _private_and_writable(folder: Path) -> bool:
    """Create the folder if need be; refuse one that others own or may write (it holds code)."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Return whether a folder is ours or root's, and nobody else may write it."""
    states = [place.stat() for place in (folder, folder.parent)]
    return not any(
        state.st_uid not in (os.getuid(), 0) or state.st_mode & stat.S_IWOTH for state in states
    )


@contextmanager
def _numba_cache_dir(folder: Path | None) -> Iterator[bool]:
    """Point Numba's cache at our folder for our own functions only."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder) if folder else before
    try:
        yield folder is not None
    finally:
        config.CACHE_DIR = before
