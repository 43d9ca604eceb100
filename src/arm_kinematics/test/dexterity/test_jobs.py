# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jobs on all cores or a cluster: in order, nothing left."""

import operator
import os
import signal
import subprocess
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest
from arm_common.errors import InputError
from arm_kinematics.dexterity.jobs import executor, run_jobs


def test_results_are_in_the_order_of_the_jobs_and_processes_have_one_thread(capsys):
    with executor(2) as pool:
        squares = run_jobs(pool, operator.neg, range(20), "numbers")
        (threads,) = run_jobs(pool, os.getenv, ["OMP_NUM_THREADS"], "threads")
    assert squares == [-i for i in range(20)]
    assert threads == "1" and "OMP_NUM_THREADS" not in os.environ
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "numbers: 2 of 20" and lines[9] == "numbers: 20 of 20"


def test_process_that_ends_is_one_sentence():
    with (
        pytest.raises(InputError, match="numbers: a process ended") as it,
        executor(1) as pool,
    ):
        run_jobs(pool, os._exit, [3], "numbers")
    assert "\n" not in str(it.value)


def test_failed_job_ends_the_others():
    began = time.monotonic()
    with pytest.raises(TypeError), executor(2) as pool:
        run_jobs(pool, time.sleep, [60.0, "no number"], "naps")
    assert time.monotonic() - began < 30.0


SLEEPER = """
import argparse, os, sys, time
from arm_common import cli
from arm_kinematics.dexterity.jobs import executor, run_jobs

def nap(seconds):
    # One write a line: print() may write the end of the line by itself, after another process.
    os.write(1, b"started\\n")
    time.sleep(seconds)

def main(_):
    with executor(2) as pool:
        run_jobs(pool, nap, [60.0] * 8, "naps")

if __name__ == "__main__":
    sys.exit(cli.run(argparse.ArgumentParser(prog="nap"), main, []))
"""


@pytest.mark.parametrize("everyone", [True, False])
def test_interrupt_ends_all_processes_without_a_traceback(tmp_path, everyone):
    """Ctrl-C reaches the whole process group; a signal by its number, one process."""
    file = tmp_path / "nap.py"
    file.write_text(SLEEPER)
    with subprocess.Popen(
        [sys.executable, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == "started\n"
        (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
        assert process.wait(30.0) == 130
        assert process.stderr.read().strip() == ""
        # The other process may have begun, too; the pipe ends when no process has it open.
        assert process.stdout.read() in {"", "started\n"}


class Cluster(ThreadPoolExecutor):
    """Stands in for a Dask cluster."""

    found = object()

    def __init__(self, address, timeout):
        if address != "tcp://there:8786":
            raise OSError("Timed out")
        super().__init__(2)

    def run(self, function, package):
        assert package == "arm_kinematics" and function(package)
        return {"tcp://worker:1": self.found} if self.found else {}

    def get_executor(self):
        return self


@pytest.fixture
def dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(Client=Cluster))


def test_jobs_run_on_a_cluster(dask):
    with executor(dask="tcp://there:8786") as pool:
        assert isinstance(pool, Cluster)
        assert run_jobs(pool, operator.neg, [1, 2, 3], "numbers") == [-1, -2, -3]


def test_wrong_address_and_cluster_without_workers_are_one_sentence(dask, monkeypatch):
    monkeypatch.setattr(Cluster, "found", None)
    for address, why in (("tcp://away:1", "no Dask scheduler"), ("tcp://there:8786", "no worker")):
        with pytest.raises(InputError, match=why) as it, executor(dask=address):
            pass
        assert address in str(it.value) and "\n" not in str(it.value)


def test_cluster_without_dask_gives_the_command_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(InputError, match=r"not installed; .*install distributed"),
        executor(dask="tcp://there:8786"),
    ):
        pass
