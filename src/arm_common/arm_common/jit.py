# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compile numeric kernels with Numba where it is installed, and cache the machine code.

Numba's own cache depends only on the file of a function, not on those of the functions it calls,
and fails where neither the source folder nor the home folder is writable. Hence each package has a
cache folder named after a digest of all its kernel sources, in the first writable private place.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from arm_common.suggestions import install_command

_LOGGER = logging.getLogger(__name__)
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},
}
_PACKAGE = Path(__file__).parent
_F = TypeVar("_F", bound=Callable[..., Any])

try:
    if os.environ.get("ARM_KINEMATICS_NO_NUMBA"):
        raise ImportError("switched off by ARM_KINEMATICS_NO_NUMBA")
    import numba
    from numba.core.caching import FunctionCache
    from numba.core.compiler_lock import global_compiler_lock

    # A forked child has no thread that could release the lock for it.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
    HAVE_NUMBA = True
except ImportError as error:
    HAVE_NUMBA = False
    _LOGGER.warning(
        "numba is not used (%s): kinematics runs as plain Python, about a hundred times "
        "slower; to install it: %s",
        error,
        install_command("numba", "python3-numba"),
    )


def kernel(function: _F) -> _F:
    """Compile a function of scalars and float64 arrays; without Numba, return it unchanged.

    Division by zero gives inf or nan as in NumPy, products and sums may be fused, and the global
    interpreter lock is released while the function runs. The kernels of a package are cached
    together; those of a script are compiled in every run.

    It cannot create or return arrays, nor assign one slice to another: so it needs no counting of
    references, which would take a fifth of its time. See `allocating_kernel`.
    """
    return _compiled(function)


def inlined_kernel(function: _F) -> _F:
    """Compile as `kernel` a function that is copied into its callers.

    A call of a kernel takes ten to twenty nanoseconds, as an array is passed as nine numbers.
    """
    return _compiled(function, forceinline=True)


def allocating_kernel(function: _F) -> _F:
    """Compile as `kernel` a function that creates arrays.

    Called from Python, it counts references to each array that it is passed, which takes as long
    as the call itself. So Python calls a `kernel` that only passes them on.
    """
    return _compiled(function, _nrt=True)


def _compiled(function: _F, **more: bool) -> _F:
    if not HAVE_NUMBA:
        return function
    name = function.__module__.partition(".")[0]
    folder = None if name == "__main__" else cache_folder(Path(str(sys.modules[name].__file__)))
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
    try:
        compiled = numba.njit(cache=folder is not None, **(_OPTIONS | more))(function)
        if folder is not None:
            compiled._cache = _renewing_cache(function, folder)
        return cast(_F, compiled)
    finally:
        config.CACHE_DIR = before


def _renewing_cache(function: Callable[..., Any], folder: Path) -> Any:
    """Return Numba's cache of a function, which here outlives damaged files."""

    class RenewingCache(FunctionCache):  # type: ignore[misc]
        """A cache that is emptied if it cannot be read."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """Return the compiled function; None if there is none or its file is damaged."""
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception:  # noqa: BLE001  a damaged pickle raises nearly anything
                _warn_damaged(folder)
                with suppress(OSError):
                    self.flush()  # type: ignore[no-untyped-call]
                return None

    return RenewingCache(function)  # type: ignore[no-untyped-call]


@lru_cache
def _warn_damaged(folder: Path) -> None:
    _LOGGER.warning(
        "a file of compiled functions in %s is damaged: it is made anew, which can take minutes",
        folder,
    )


def fix_types(function: Callable[..., Any], inputs: Sequence[int], results: Sequence[int]) -> None:
    """Compile a kernel now, for C-contiguous float64 arrays, and for no other types later.

    Inputs may be read-only. Otherwise the first call with, say, a read-only array would compile
    again while a request waits.

    Args:
        function: The result of `kernel`.
        inputs: Number of dimensions of each input array.
        results: Number of dimensions of each output array; these come last.
    """
    if not HAVE_NUMBA:
        return
    array, number = numba.types.Array, numba.types.float64
    signature = tuple(array(number, d, "C", readonly=True) for d in inputs)
    signature += tuple(array(number, d, "C") for d in results)
    function.compile(signature)  # type: ignore[attr-defined]
    function.disable_compile()  # type: ignore[attr-defined]


@lru_cache
def cache_folder(package: Path) -> Path | None:
    """Create and return the cache folder of a package; None if no place is writable.

    Args:
        package: The ``__init__.py`` of the package.
    """
    installed = _installed_folder(package)
    for base in _candidates(installed.parent):
        folder = base / installed.name
        if _private_and_writable(folder):
            _copy_installed(installed, folder)
            return folder
    return None


def finish_installation(package: Path) -> None:
    """Make the cache beside the source readable by others and remove those of older sources."""
    folder = _installed_folder(package)
    if cache_folder(package) == folder:
        folder.chmod(0o755)
        for other in folder.parent.glob(f"{package.parent.name}-*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)


def _installed_folder(package: Path) -> Path:
    """Return the cache folder beside the source, named after a digest of all kernel files.

    These are the files of the package and of arm_common that contain kernels.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for root in dict.fromkeys((_PACKAGE, package.parent)):
        for path in sorted(root.rglob("*.py")):
            if b"kernel\ndef " in (source := path.read_bytes()):
                digest.update(source)
    name = f"{package.parent.name}-{digest.hexdigest()[:12]}"
    return package.parent / "__pycache__" / name


def _candidates(beside_source: Path) -> Iterator[Path]:
    """Yield the places to try: the user's choice, beside the source, home, temporary folder."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    yield beside_source
    if cache_home := os.environ.get("XDG_CACHE_HOME"):
        yield Path(cache_home)
    if home := os.environ.get("HOME"):
        yield Path(home) / ".cache"
    with suppress(OSError):  # there may be no temporary folder at all
        yield Path(tempfile.gettempdir()) / f"arm-{os.getuid()}"


def _private_and_writable(folder: Path) -> bool:
    """Create a folder if necessary; return whether it is writable, but only by us or root.

    It holds code that will be executed.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Return whether a folder and its parent are ours or root's, and not world-writable."""
    states = [place.stat() for place in (folder, folder.parent)]
    return not any(
        state.st_uid not in (os.getuid(), 0) or state.st_mode & stat.S_IWOTH for state in states
    )


def _copy_installed(installed: Path, folder: Path) -> None:
    """Copy the kernels of a read-only installation to an empty cache folder."""
    with suppress(OSError):
        if folder != installed and _is_private(installed) and not any(folder.iterdir()):
            shutil.copytree(installed, folder, dirs_exist_ok=True)
