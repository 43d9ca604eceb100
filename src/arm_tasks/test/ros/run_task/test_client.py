# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task that is interrupted in the terminal ends soon, whatever the task server does then."""

import signal
import threading
import time
from contextlib import closing

import pytest
import rclpy
from arm_common.ros.node_runner import ExecutorThread, session
from arm_tasks.ros.run_task import client as module
from arm_tasks.ros.run_task.client import TaskClient
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor

from arm_description import load_robot
from arm_interfaces.action import RunTask

TICKS = 2  # for _CANCEL_TICKS
BOUND = 30.0


class Server:
    """Accepts a goal and its cancellation; the arm brakes for a time [s] with feedback or not."""

    def __init__(self, braking, feedback):
        self.braking, self.feedback, self.over = braking, feedback, False
        self.ended = threading.Event()
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("server", context=self.context)
        self.action = ActionServer(
            self.node,
            RunTask,
            "run_task",
            self.run,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        executor = MultiThreadedExecutor(num_threads=4, context=self.context)
        self.thread = ExecutorThread(executor, [self.node], lambda: None)

    def run(self, handle):
        feedback = RunTask.Feedback(step=0, steps_total=1, message="moving")
        while not (handle.is_cancel_requested or self.over):
            handle.publish_feedback(feedback)
            time.sleep(0.05)
        end = time.monotonic() + self.braking
        while time.monotonic() < end and not self.over:
            if self.feedback:
                handle.publish_feedback(feedback)
            time.sleep(0.05)
        handle.canceled()
        self.ended.set()
        return RunTask.Result(message="canceled; the arm holds where it is")

    def close(self):
        self.over = True
        assert self.ended.wait(BOUND)
        self.thread.stop(BOUND)
        self.action.destroy()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.mark.parametrize(
    ("braking", "feedback", "end"),
    [
        (60.0, False, "The cancellation is not confirmed: t: the task server has been silent"),
        (2.0, True, "canceled; the arm holds where it is"),
    ],
    ids=["a silent server", "an arm that brakes for long"],
)
def test_interrupted_client_waits_only_for_a_server_that_responds(
    monkeypatch, braking, feedback, end
):
    lines, interrupted = [], []

    def printed(line):
        lines.append(line)
        if "moving" in line:
            interrupted.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module, "_CANCEL_TICKS", TICKS)
    monkeypatch.setattr(module, "_print", printed)
    server = Server(braking, feedback)
    try:
        with session(), closing(TaskClient(load_robot("nut_arm"))) as client:
            client._wait(client._server.action.server_is_ready, "the server", BOUND)
            with pytest.raises(KeyboardInterrupt):
                client.run(RunTask.Goal(task="t"))
            waited = time.monotonic() - interrupted[0]
    finally:
        server.close()
    assert end in lines[-1], lines
    assert waited < (10.0 if feedback else 5.0)  # on a busy machine
