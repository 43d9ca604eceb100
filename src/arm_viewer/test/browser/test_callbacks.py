# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Actions posted by any thread run in order in the owner's thread."""

import asyncio
import threading
from types import SimpleNamespace

from arm_testing.pages.page import FakePage
from arm_viewer.browser.access import DROPPED, PageLink, SentCommand
from arm_viewer.browser.callbacks import CallbackQueue


def test_posts_of_many_threads_run_in_order():
    queue, got, woken = CallbackQueue(), [], []
    queue.post(lambda: got.append((-1, 0)))  # kept until the queue is open
    queue.open(lambda: woken.append(1))
    assert woken == [1]

    def post(worker):
        for number in range(200):
            queue.post(lambda number=number: got.append((worker, number)))

    threads = [threading.Thread(target=post, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        queue.drain()
    queue.drain()
    assert got[0] == (-1, 0)
    assert [sum(w == worker for w, _ in got) for worker in range(4)] == [200] * 4
    for worker in range(4):
        assert [n for w, n in got if w == worker] == list(range(200))
    assert len(woken) == 801


def test_closed_queue_runs_nothing():
    queue, got = CallbackQueue(), []
    queue.open(lambda: got.append("woken"))
    queue.close()
    queue.post(lambda: got.append("run"))
    assert got == []


def test_user_value_is_used_even_if_the_node_sets_another_first():
    page, used = FakePage(), []
    slider = page.gui.elements.add_slider("Speed", initial_value=12.0)
    page.gui.on_change(slider, used.append)
    for client in (0, None):  # a user, and the node
        asyncio.run(slider.callbacks[0](SimpleNamespace(client_id=client)))
        slider.value = 0.0
    page.gui.queue.drain()
    assert used == [12.0]


def test_commands_that_waited_too_long_are_dropped_and_put_back():
    now, got = 0.0, []
    link = PageLink(clock=lambda: now, on_dropped=got.append)
    queue = CallbackQueue()

    def command(sent, what, former):
        return SentCommand(what, sent, lambda: got.append((what, former)), link)

    queue.post(lambda: got.append("old"), command(0.0, "slider", 1))
    queue.post(lambda: got.append("stop"))
    queue.post(lambda: got.append("older"), command(0.1, "slider", 2))
    queue.post(lambda: got.append("other"), command(0.1, "box", 3))
    queue.post(lambda: got.append("new"), command(1.2, "box", 4))
    now = 1.9
    queue.drain()
    assert got == ["stop", "new", ("slider", 1), DROPPED]


def test_part_of_the_page_that_fails_is_left_out_and_nothing_else():
    gui, failed = FakePage().gui, []
    gui.failed = lambda title, error: failed.append((title, str(error)))
    gui.elements.add_button("STOP")
    with gui.part("Tool"):
        gui.elements.add_button("a")
        gui.elements.add_button("b")
        raise UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed")
    with gui.part("Task"):
        gui.elements.add_button("c")
    assert gui.labels() == ["STOP", "c"]
    assert [title for title, _ in failed] == ["Tool"]


def test_folder_that_is_filled_again_has_only_its_new_elements():
    gui = FakePage().gui
    folder = gui.elements.add_folder("Row")
    for label in ("first", "second"):
        with gui.emptied(folder):
            gui.elements.add_text(label)
    assert gui.labels() == ["Row", "second"]


def test_actions_after_one_that_fails_still_run():
    failed, got = [], []
    queue = CallbackQueue(failed.append)
    error = FileNotFoundError("gone")

    def fail():
        raise error

    for action in (lambda: got.append(1), fail, lambda: got.append(2)):
        queue.post(action)
    queue.drain()
    assert (got, failed) == ([1, 2], [error])
