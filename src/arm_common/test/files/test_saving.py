# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Saved files are whole, keep their attributes and links, and no edit of another is lost."""

import errno
import fcntl
import os
import random
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from arm_common.errors import InputError
from arm_common.files import saving
from arm_common.files.saving import (
    FileChangedError,
    check_writable,
    contents,
    save_edit,
    write_bytes,
)

OLD, NEW = b"old\n" * 2000, b"new\n" * 3000
NOBODY = 65534
SAVE = """
import sys
from arm_common.errors import InputError
from arm_common.files.saving import contents, save_edit
try:
    save_edit(b"new\\n" * 3000, sys.argv[1], contents(__import__("pathlib").Path(sys.argv[1])))
except InputError as error:
    print(error)
    sys.exit(1)
"""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_bytes(OLD)
    return file


@pytest.fixture(params=["linux", "other"])
def system(request, monkeypatch):
    """Linux, and a system that can only replace names."""
    monkeypatch.setattr(saving, "_LINUX", request.param == "linux")


def backup(file):
    return file.with_name("mine.yaml.bak")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def save_elsewhere(file, *before, **options):
    """Save in a process of its own; return its exit code and what it printed."""
    command = [*before, sys.executable, "-c", SAVE, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.mark.usefixtures("system")
def test_edit_keeps_the_former_file_beside_it(file):
    assert save_edit(NEW, file, OLD) == backup(file)
    assert (file.read_bytes(), backup(file).read_bytes()) == (NEW, OLD)
    assert save_edit(OLD, file, NEW) == backup(file)
    assert backup(file).read_bytes() == NEW and names(file.parent) == [file.name, "mine.yaml.bak"]


@pytest.mark.usefixtures("system")
def test_numbered_backups_are_never_overwritten(file):
    for text, before in ((NEW, OLD), (b"third", NEW)):
        save_edit(text, file, before, numbered=True)
    kept = [file.with_name(f"mine.yaml.{number}.bak").read_bytes() for number in (1, 2)]
    assert kept == [OLD, NEW]


@pytest.mark.usefixtures("system")
def test_same_content_is_not_written(file):
    before = file.stat()
    assert save_edit(OLD, file, OLD) is None
    assert file.stat() == before and names(file.parent) == [file.name]


def acl(user):
    """Return an access list with which a further user may read, in the form of acl(5)."""
    entries = [(1, 6, -1), (2, 4, user), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def test_owner_mode_and_access_list_stay(file):
    owner = (NOBODY, NOBODY) if os.getuid() == 0 else (os.getuid(), os.getgid())
    os.chown(file, *owner)
    file.chmod(0o640)
    os.setxattr(file, "system.posix_acl_access", acl(1234))
    save_edit(NEW, file, OLD)
    for one in (file, backup(file)):
        status = one.stat()
        assert (status.st_uid, status.st_gid) == owner
        assert stat.S_IMODE(status.st_mode) == 0o640
        assert os.getxattr(one, "system.posix_acl_access") == acl(1234)


def test_new_file_has_the_mode_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    save_edit(NEW, tmp_path / "mine.yaml", None)
    assert (tmp_path / "mine.yaml").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert names(tmp_path) == ["mine.yaml", "plain"]


def test_access_list_of_the_folder_is_not_added(file):
    file.chmod(0o600)
    os.setxattr(file.parent, "system.posix_acl_default", acl(1234))
    save_edit(NEW, file, OLD)
    assert not os.listxattr(file) and stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.usefixtures("system")
def test_link_stays_and_its_target_is_replaced(file, tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "there/link.yaml"
    link.symlink_to("../mine.yaml")
    assert save_edit(NEW, link, OLD) == backup(file)
    assert link.is_symlink() and file.read_bytes() == NEW and not file.is_symlink()


@pytest.mark.usefixtures("system")
def test_backup_that_is_a_link_is_not_followed(file, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    backup(file).symlink_to(victim)
    save_edit(NEW, file, OLD)
    assert victim.read_text() == "precious" and not backup(file).is_symlink()


def test_all_names_of_a_file_show_the_edit(file, tmp_path):
    (tmp_path / "second").hardlink_to(file)
    save_edit(NEW, file, OLD)
    assert (tmp_path / "second").read_bytes() == NEW == file.read_bytes()
    assert backup(file).read_bytes() == OLD


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("of", ["mine.yaml", "mine.yaml.bak"])
def test_read_only_file_is_not_replaced(file, of):
    backup(file).write_text("older")
    file.with_name(of).chmod(0o444)
    with pytest.raises(InputError, match=rf"{of}: cannot be written \(it is read-only\)"):
        save_edit(NEW, file, OLD)
    assert (file.read_bytes(), backup(file).read_text()) == (OLD, "older")


@pytest.mark.usefixtures("system")
def test_folder_in_place_of_the_backup_is_named(file):
    backup(file).mkdir()
    with pytest.raises(InputError, match=r"mine\.yaml\.bak: cannot be written"):
        save_edit(NEW, file, OLD)
    assert file.read_bytes() == OLD and names(file.parent) == [file.name, "mine.yaml.bak"]


@pytest.mark.parametrize("name", ["a" * 300, "x\0y", "no/such/x", "mine.yaml/x"])
def test_odd_name_is_one_sentence(file, name):
    for save in (lambda path: save_edit(NEW, path, None), lambda path: write_bytes(NEW, path)):
        with pytest.raises(InputError, match="cannot be written"):
            save(file.parent / name)
    assert names(file.parent) == [file.name]


@pytest.mark.parametrize("has_second_name", [False, True])
def test_full_disk_destroys_neither_file_nor_backup(file, tmp_path, has_second_name):
    backup(file).write_text("older")
    if has_second_name:  # it is overwritten where it is
        (tmp_path / "second").hardlink_to(file)
    before = names(tmp_path)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(OLD) + 100, len(OLD) + 100))

    code, said = save_elsewhere(file, preexec_fn=fill, env=os.environ | NO_BYTECODE)
    assert code == 1 and "cannot be written (File too large)" in said and said.count("\n") == 1
    assert file.read_bytes() == OLD and backup(file).read_text() == "older"
    assert names(tmp_path) == before


NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


def test_file_without_room_to_grow_keeps_its_content(file, tmp_path, monkeypatch):
    """The disk fills up after the new content was written beside it, as others write, too."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "second").hardlink_to(file)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match="No space left"):
        save_edit(NEW, file, OLD)
    assert file.read_bytes() == OLD == backup(file).read_bytes()


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EPERM, errno.EXDEV])
def test_file_that_cannot_be_renamed_is_overwritten_after_a_backup(file, monkeypatch, number):
    replace, inode = Path.replace, file.stat().st_ino

    def fails(self, target):
        if target == file:
            raise OSError(number, os.strerror(number))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails)
    for save in (lambda: save_edit(NEW, file, OLD), lambda: write_bytes(OLD, file)):
        before = file.read_bytes()
        save()
        assert backup(file).read_bytes() == before != file.read_bytes()
    assert file.stat().st_ino == inode and names(file.parent) == [file.name, "mine.yaml.bak"]


def test_mounted_file_is_overwritten_after_a_backup(file, tmp_path):
    unshare = shutil.which("unshare")
    mounted = tmp_path / "mounted.yaml"
    mounted.write_bytes(OLD)
    mount = f"mount --bind {mounted} {file} && exec"
    start = [unshare or "", "-rm", "sh", "-c", f'{mount} "$@"', "sh"]
    if unshare is None or subprocess.run([*start, "true"], capture_output=True).returncode:
        pytest.skip("this computer allows no mounts")
    assert save_elsewhere(file, *start) == (0, "")
    assert mounted.read_bytes() == NEW
    assert backup(file).read_bytes() == OLD


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_keeps_its_owner(file):
    file.parent.chmod(0o777)
    file.chmod(0o666)
    for folder in file.parents:
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o001)

    def other():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    child = os.fork()
    if child == 0:
        other()
        save_edit(NEW, file, OLD)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert file.read_bytes() == NEW and file.stat().st_uid == 0
    assert backup(file).read_bytes() == OLD
    assert stat.S_IMODE(backup(file).stat().st_mode) == 0o600  # for whom it was, nobody knows


def test_file_system_without_unnamed_files(file, monkeypatch):
    real = os.open

    def without(path, flags, *more, **options):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", without)
    file.with_name(saving._DRAFT).write_text("of a process that was killed")
    save_edit(NEW, file, OLD)
    assert (file.read_bytes(), backup(file).read_bytes()) == (NEW, OLD)
    assert names(file.parent) == [file.name, "mine.yaml.bak"]


@pytest.mark.usefixtures("system")
def test_second_writer_is_told(file):
    save_edit(b"first", file, OLD)
    for read, verb in ((OLD, "changed"), (None, "made")):
        with pytest.raises(FileChangedError, match=f"mine.yaml: was {verb} by another program"):
            save_edit(b"second", file, read)
    file.unlink()
    with pytest.raises(FileChangedError, match="was removed by another program"):
        save_edit(b"second", file, b"first")
    assert not file.exists() and backup(file).read_bytes() == OLD


def test_of_writers_at_once_none_is_lost_silently(file):
    """Each adds a line to what it read; whoever is not told finds its line in the file."""
    file.write_bytes(b"")

    def add(number):
        read = contents(file)
        try:
            save_edit(read + b"%d\n" % number, file, read)
        except FileChangedError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        saved = {number for number in pool.map(add, range(200)) if number is not None}
    assert {int(line) for line in file.read_text().split()} == saved and saved


def test_folder_in_which_another_program_never_ends_saving(file, monkeypatch):
    monkeypatch.setattr(saving, "_LOCK_TIME", 0.05)
    folder = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(InputError, match="another program is saving a file beside it"):
        save_edit(NEW, file, OLD)
    os.close(folder)
    assert file.read_bytes() == OLD


def test_device_is_written_to(file):
    write_bytes(NEW, "/dev/null")
    with pytest.raises(InputError, match="No space left on device"):
        write_bytes(NEW, "/dev/full")


FOREVER = """
import itertools, sys
from pathlib import Path
from arm_common.files.saving import contents, save_edit
file = Path(sys.argv[1])
for number in itertools.count():
    save_edit(b"%d " % number * 20_000, file, contents(file))
    print(number, flush=True)
"""


def test_killed_program_leaves_the_old_or_the_new_content(file):
    moments = random.Random(1)
    for _ in range(20):
        command = [sys.executable, "-c", FOREVER, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert [child.stdout.readline() for _ in range(2)]
            time.sleep(moments.uniform(0.0, 0.05))  # the moment of the kill, not a wait
            child.send_signal(signal.SIGKILL)
        for one in (file, backup(file)):
            assert len(set(one.read_bytes().split())) == 1
        drafts = {saving._DRAFT, saving._DRAFT_BACKUP}  # the next save replaces them
        assert set(names(file.parent)) <= {file.name, "mine.yaml.bak", *drafts}
    save_edit(NEW, file, contents(file))
    assert names(file.parent) == [file.name, "mine.yaml.bak"]


@pytest.mark.parametrize(
    "save",
    [partial(write_bytes, b"new"), lambda link: save_edit(b"new", link, None), check_writable],
)
@pytest.mark.usefixtures("system")
def test_link_that_leads_to_itself_is_refused_and_kept(tmp_path, save):
    link = tmp_path / "a.yaml"
    link.symlink_to("a.yaml")
    with pytest.raises(InputError, match="cannot be written"):
        save(link)
    assert link.is_symlink() and list(tmp_path.iterdir()) == [link]
