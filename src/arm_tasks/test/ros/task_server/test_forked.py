# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import errno
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_tasks.ros.task_server.forked import run_in_child
from arm_testing.waiting import BOUND, wait_for


def test_result_comes_back_from_another_process():
    seen = []
    pid, values = run_in_child(lambda: (os.getpid(), seen.append(1) or {"q": np.arange(3.0)}))
    assert pid != os.getpid() and seen == []
    assert values["q"].tolist() == [0.0, 1.0, 2.0]


def test_exception_keeps_its_type_and_fields():
    def fail():
        raise InputError("too far", remedy="come closer", file="a.yaml", line=3)

    with pytest.raises(InputError, match="too far; come closer") as raised:
        run_in_child(fail)
    assert raised.value.line == 3


def test_read_only_mappings_stay_read_only():
    view = run_in_child(lambda: MappingProxyType({"waist": 0.5}))
    assert type(view) is MappingProxyType and dict(view) == {"waist": 0.5}


def test_result_that_cannot_be_pickled_is_reported():
    with pytest.raises(Exception, match=r"pickle|local object"):
        run_in_child(lambda: lambda: None)


def test_killed_child_is_reported():
    with pytest.raises(InputError, match="ended by SIGKILL; free some memory"):
        run_in_child(lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_memory_is_mentioned_only_if_it_may_be_the_cause():
    with pytest.raises(InputError, match=r"ended by SIGTERM$"):
        run_in_child(lambda: os.kill(os.getpid(), signal.SIGTERM))


@pytest.mark.parametrize("end", [lambda: sys.exit(0), lambda: os._exit(1)])
def test_child_that_ends_without_a_result_is_reported(end):
    with pytest.raises(InputError, match="without a result, with exit code 1"):
        run_in_child(end)


def test_lack_of_memory_in_the_child_is_reported():
    def exhaust():
        raise MemoryError

    with pytest.raises(InputError, match="not enough memory"):
        run_in_child(exhaust)


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("name", ["pipe", "fork"])
def test_child_that_cannot_be_started_leaves_no_descriptors(monkeypatch, name):
    def fail():
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, name, fail)
    gc.collect()  # files of earlier tests must not close meanwhile
    before = descriptors()
    with pytest.raises(InputError, match="no child process can be started"):
        run_in_child(lambda: None)
    assert descriptors() == before


def hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600.0)


def children():
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()


@pytest.mark.parametrize(
    ("more", "why"),
    [({"canceled": lambda: True}, "canceled"), ({"timeout": 0.2}, "no result after 0.2 s")],
)
def test_hung_child_is_killed(more, why):
    before, opened = children(), descriptors()
    with pytest.raises(InputError, match=why):
        run_in_child(hang, **more)
    assert children() == before  # not even as a zombie
    assert descriptors() == opened
    assert run_in_child(lambda: "next") == "next"


def test_child_is_replaced_that_waits_for_a_lock_of_another_thread():
    lock, before = threading.Lock(), set(children())
    forking = threading.get_native_id()

    def hold_until_the_fork():
        tasks = Path(f"/proc/self/task/{forking}/children")
        with lock:
            holding.set()
            wait_for(lambda: set(tasks.read_text().split()) - before)

    def work():
        with lock:
            return "done"

    holding = threading.Event()
    thread = threading.Thread(target=hold_until_the_fork)
    thread.start()
    assert holding.wait(BOUND)
    assert run_in_child(work, timeout=BOUND) == "done"
    thread.join(BOUND)
    assert set(children()) == before


def test_result_larger_than_a_pipe_comes_back():
    assert len(run_in_child(lambda: bytes(10_000_000))) == 10_000_000


def test_child_ignores_ctrl_c_and_leaves_the_parents_handlers_alone():
    received = []
    before = signal.signal(signal.SIGINT, lambda *_: received.append(1))
    try:
        assert run_in_child(lambda: os.kill(os.getpid(), signal.SIGINT) or "done") == "done"
    finally:
        signal.signal(signal.SIGINT, before)
    assert received == []


def test_threads_do_not_wait_for_each_others_child():
    first, second = os.pipe()

    def slow():
        os.read(first, 1)
        return "slow"

    results = []
    thread = threading.Thread(target=lambda: results.append(run_in_child(slow)))
    thread.start()
    assert run_in_child(lambda: "quick") == "quick"
    assert results == []
    os.write(second, b"x")
    thread.join(BOUND)
    assert results == ["slow"]
    os.close(first)
    os.close(second)


def test_child_ends_with_its_parent():
    script = """
import os, sys, time
from arm_tasks.ros.task_server.forked import run_in_child
def work():
    print(os.getpid(), flush=True)
    time.sleep(600)
run_in_child(work)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait(BOUND)

    def is_over():
        try:
            state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        return state == "Z"

    wait_for(is_over)
