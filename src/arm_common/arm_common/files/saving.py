# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Save files: whole or not at all, durably, with attributes, and never over another's edit."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import EllipsisType

from arm_common.errors import InputError

with suppress(ImportError):  # Windows has none
    import fcntl

_LINUX = hasattr(os, "O_TMPFILE")  # where files can be made without names, and have all attributes
# No library on PyPI does all of this: atomicwrites, boltons, safer, durablewrite, atomicwriter and
# atomicreplace keep neither ACLs nor links, have no answer to EBUSY, and tell no second writer.
_DRAFT, _DRAFT_BACKUP = ".arm_saving", ".arm_saving_backup"  # while they get their names
_LOCK_TIME = 10.0  # [s] that another program may save in the same folder
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # of the file system
_NO_RENAME = (errno.EBUSY, errno.EXDEV, errno.EPERM)  # a mounted file, or another user's


class FileChangedError(InputError):
    """A file that another program made, changed or removed since it was read."""


def write_bytes(data: bytes, output: str | os.PathLike[str]) -> None:
    """Write a file of which no former content is of interest, as `save_edit` does.

    Raises:
        InputError: The file cannot be written; it is unchanged.
    """
    path = Path(output)
    with _explained(path):
        if path.exists() and not path.is_file():  # /dev/stdout or a pipe; a folder raises OSError
            path.write_bytes(data)
        else:
            _save(path, data, None, ...)


def save_edit(
    data: bytes, output: str | os.PathLike[str], read: bytes | None, numbered: bool = False
) -> Path | None:
    """Replace a file by an edit of it, and keep the former one beside it.

    Readers, and who starts after a power cut, see the old content or the new, never a part. Owner,
    group, mode and ACL stay; of a symbolic link its target is replaced. A file that has several
    names, is mounted by itself, or whose owner cannot be kept is overwritten where it is.

    Args:
        data: The new content.
        output: Path of the file.
        read: The content that was edited (`contents`); None if there was no such file.
        numbered: Whether all former ones are kept, as ``<output>.1.bak``, ``<output>.2.bak``, ...;
            otherwise the last one, as ``<output>.bak``.

    Returns:
        The path of the former file, None without one, or if it had the same content.

    Raises:
        FileChangedError: The file has another content than `read`; it is unchanged.
        InputError: The file or its backup cannot be written; the file is unchanged.
    """
    path = Path(output)
    with _explained(path):
        return _save(path, data, _next_backup if numbered else _backup, read)


def contents(path: Path) -> bytes | None:
    """Return the content of a file, None if there is no such file, for `save_edit`.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _failed("read", path, error) from None


def check_writable(output: str) -> None:
    """Raise an InputError unless `write_bytes` can write a file, to be known before long work."""
    path = Path(output)
    with _explained(path):
        _require_writable(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.is_file() or not path.exists():
            folder = _target(path).parent
            os.scandir(folder).close()
            if not os.access(folder, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _target(link: Path) -> Path:
    """Return the path to which links lead; raise an OSError if they lead in a circle."""
    path = Path(os.path.realpath(link))
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return path


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Raise an InputError in place of errors of the operating system."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise _failed("written", path, error) from None


def _failed(verb: str, path: Path, error: OSError | ValueError) -> InputError:
    """Return the sentence about an error; a ValueError means a null character in the name."""
    reason = error.strerror if isinstance(error, OSError) else "this is not the name of a file"
    return InputError(f"cannot be {verb} ({reason})", remedy="check the path", file=str(path))


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.bak")


def _next_backup(path: Path) -> Path:
    """Return the first of ``<path>.1.bak``, ``<path>.2.bak``, ... that does not exist."""
    backups = (path.with_name(f"{path.name}.{number}.bak") for number in itertools.count(1))
    return next(backup for backup in backups if not os.path.lexists(backup))


def _save(
    link: Path,
    data: bytes,
    backup: Callable[[Path], Path] | None,
    read: bytes | EllipsisType | None,
) -> Path | None:
    """Save a file; all content is on the disk before anything gets another name."""
    path, kept = _target(link), None
    with _locked(path.parent) as folder, ExitStack() as drafts:
        old = path.read_bytes() if path.exists() else None
        if read is not ... and read != old:
            verb = "made" if read is None else "removed" if old is None else "changed"
            remedy = "open it again and repeat the edit"
            raise FileChangedError(f"was {verb} by another program", remedy=remedy, file=str(link))
        if backup is not None and data == old:
            return None
        _require_writable(path)
        if folder is None:
            return _replace(path, data, old, backup)
        new = drafts.enter_context(_Draft(path, _DRAFT, data))
        if old is not None and (backup is not None or not new.may_replace):
            kept = _keep(path, old, backup or _backup, folder)
        if not new.replace(path) and old is not None:
            kept = kept or _keep(path, old, _backup, folder)
            _overwrite(path, data, old)
        os.fsync(folder)
    return kept


def _replace(
    path: Path, data: bytes, old: bytes | None, backup: Callable[[Path], Path] | None
) -> Path | None:
    """Save a file where only names can be replaced in one moment: macOS and Windows."""
    draft, kept = path.with_name(f"{_DRAFT}{os.getpid()}"), None
    try:
        if old is not None and backup is not None:
            draft.write_bytes(old)
            kept = backup(path)
            with _explained(kept):
                _require_writable(kept)
                draft.replace(kept)
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return kept


def _keep(path: Path, old: bytes, name: Callable[[Path], Path], folder: int) -> Path:
    """Write the former content of a file beside it; return its path."""
    kept = name(path)
    with _explained(kept):
        _require_writable(kept)
        with _Draft(path, _DRAFT_BACKUP, old) as draft:
            draft.rename(kept)
        os.fsync(folder)
    return kept


def _require_writable(path: Path) -> None:
    """Raise an OSError if a file or stream exists and its mode forbids to write it, root too."""
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only")


@contextmanager
def _locked(folder: Path) -> Iterator[int | None]:
    """Yield the descriptor of a folder in which no other program saves meanwhile.

    It is None on a system without such locks: what was read is still compared.
    """
    if not _LINUX:
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    end = time.monotonic() + _LOCK_TIME
    try:
        while not _try_lock(descriptor):
            if time.monotonic() > end:
                raise BlockingIOError(errno.EAGAIN, "another program is saving a file beside it")
            time.sleep(0.01)
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_LOCKS  # what was read is still compared
    return True


class _Draft:
    """A file on the disk that is to get a name; nothing of it remains if the process is killed.

    At the moment of a replacement it has a hidden name, where the file system has no files without
    names from the start; what a kill in this moment leaves is removed by the next save there.

    Attributes:
        may_replace: Whether it has all attributes of the file that it may replace.
    """

    def __init__(self, path: Path, name: str, data: bytes) -> None:
        folder, self._name = path.parent, path.with_name(name)
        self._name.unlink(missing_ok=True)
        flags, self.may_replace = os.O_WRONLY | os.O_CLOEXEC, True
        mode = 0o600 if path.exists() else 0o666
        try:
            self._file = os.open(folder, flags | os.O_TMPFILE, mode)
            self._has_name = False
        except OSError:
            self._file = os.open(self._name, flags | os.O_CREAT | os.O_EXCL, mode)
            self._has_name = True
        try:
            if path.exists():
                self.may_replace = _take_attributes(self._file, path)
            _write_all(self._file, data)  # with attributes of it
        except OSError:
            self.__exit__()
            raise

    def replace(self, path: Path) -> bool:
        """Give it the name of a file, which disappears; return False if that is impossible."""
        try:
            if self.may_replace:
                self.rename(path)
        except OSError as error:
            if error.errno not in _NO_RENAME or not path.exists():
                raise
            return False
        return self.may_replace

    def rename(self, path: Path) -> None:
        """Give it a name; the name is a file's in one moment and its own in the next."""
        if not self._has_name:
            source = f"/proc/self/fd/{self._file}"
            link = partial(os.link, source, src_dir_fd=self._file)  # makes it follow the source
            try:
                link(path)
                return
            except FileExistsError:
                link(self._name)
        self._has_name = True
        self._name.replace(path)
        self._has_name = False

    def __enter__(self) -> _Draft:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        if self._has_name:
            self._name.unlink(missing_ok=True)


def _take_attributes(descriptor: int, path: Path) -> bool:
    """Give a new file owner, group, mode and ACL of another; return whether it may replace it."""
    status = path.stat()
    try:
        os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        names = set(os.listxattr(path))
        for name in os.listxattr(descriptor):
            if name not in names:
                os.removexattr(descriptor, name)  # the folder's default
        for name in names:
            os.setxattr(descriptor, name, os.getxattr(path, name))
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP  # the file system has none of these
    return status.st_nlink == 1


def _overwrite(path: Path, data: bytes, old: bytes) -> None:
    """Write into a file; it keeps its content if the disk is full or the user interrupts."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.posix_fallocate(descriptor, 0, max(1, len(data)))
        _write_all(descriptor, data)
    except BaseException:
        _write_all(descriptor, old)
        raise
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    """Make data the content of an open file, on the disk."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)
