# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jobs on all cores of this computer, or on a cluster: maps, searches and trials."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from arm_common.cli import print_status, whole_number
from arm_common.errors import InputError
from arm_common.signals import die_with_parent
from arm_common.suggestions import install_command

from arm_kinematics.ik.batch import usable_cores

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
_PACKAGE = "arm_kinematics"  # must be installed on each worker of a cluster
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CONNECT_TIMEOUT = 5.0  # [s]
_LINES = 10  # of progress without a terminal


def add_executor(parser: argparse.ArgumentParser, default: str = "one for each core") -> None:
    """Add ``--workers N`` and ``--dask ADDRESS``, for `executor`."""
    workers = f"number of processes (default: {default})"
    parser.add_argument("--workers", type=whole_number(1), default=0, metavar="N", help=workers)
    cluster = "run on the Dask cluster of this scheduler instead, such as tcp://host:8786"
    parser.add_argument("--dask", default="", metavar="ADDRESS", help=cluster)


@contextmanager
def executor(workers: int = 0, dask: str = "") -> Iterator[Executor]:
    """Yield an executor of processes of one thread each, or that of a Dask cluster.

    Jobs and their results must be picklable; the processes are started afresh (spawn). If the
    block raises, the processes end at once.

    Args:
        workers: number of processes; 0 for one per core.
        dask: address of a Dask scheduler; "" for this computer.

    Raises:
        InputError: Dask is not installed, or no scheduler with workers of this project answers.
    """
    with _cluster(dask) if dask else _processes(workers) as pool:
        yield pool


def run_jobs(
    pool: Executor, function: Callable[[_Job], _Result], jobs: Iterable[_Job], what: str
) -> list[_Result]:
    """Return the results of a function for all jobs, in their order; show the progress.

    Progress is a bar on standard error, or some lines where that is no terminal.

    Raises:
        InputError: a process has ended.
        Exception: a job has raised it.
    """
    from concurrent.futures import BrokenExecutor

    # New processes inherit the mask: only this process receives Ctrl-C, and none is lost.
    with _interrupts_blocked():
        futures = [pool.submit(function, job) for job in jobs]
    try:
        _await_all(futures, what)
    except BrokenExecutor:
        raise InputError(
            f"{what}: a process ended, perhaps for lack of memory", remedy="use fewer --workers"
        ) from None
    return [future.result() for future in futures]


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, also in processes started inside the block; has no effect on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _await_all(futures: Sequence[Future[_Result]], what: str) -> None:
    """Wait for all futures and show their progress; raise the first error."""
    from concurrent.futures import as_completed

    from tqdm import tqdm

    total, terminal = len(futures), sys.stderr.isatty()
    with tqdm(total=total, desc=what, leave=False, disable=not terminal) as bar:
        for count, future in enumerate(as_completed(futures), 1):
            future.result()
            bar.update()
            if not terminal and count * _LINES // total > (count - 1) * _LINES // total:
                print_status(f"{what}: {count} of {total}")


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    import multiprocessing  # imported here since it is slow to load
    from concurrent.futures import ProcessPoolExecutor

    existing = set(multiprocessing.active_children())
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    pool = ProcessPoolExecutor(
        workers or usable_cores(),
        multiprocessing.get_context("spawn"),
        die_with_parent,
        (getattr(signal, "SIGKILL", signal.SIGTERM),),
    )
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - existing:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "a cluster needs Dask, which is not installed", remedy=install_command("distributed")
        ) from None
    try:
        client = distributed.Client(address, timeout=_CONNECT_TIMEOUT)
    except (OSError, ValueError, RuntimeError):
        raise InputError(
            f"no Dask scheduler answers at {address}",
            remedy="give the address that dask scheduler prints, such as tcp://host:8786",
        ) from None
    with client:
        specs = client.run(find_spec, _PACKAGE)
        if not specs or None in specs.values():
            raise InputError(
                f"the cluster at {address} has {'no' if not specs else 'a worker without'} "
                f"{_PACKAGE if specs else 'worker'}",
                remedy="start scheduler and workers by ./arm exec dask",
            )
        yield client.get_executor()
