# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node of the contact physics moves its arm by the registers of the emulated board alone."""

import gc
import math
import subprocess
import sys

import numpy as np
import pytest
import rclpy
from arm_common.errors import InputError
from arm_common.ros.message_conversions import transform_matrix
from arm_common.transforms import shift_z
from arm_hardware.driver import Driver
from arm_hardware.motion.options import DriverOptions
from arm_simulation.ros.contact_world_node import ContactWorldNode
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import start_disagreement
from arm_testing.ros.probe import Probe
from sensor_msgs.msg import BatteryState, JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from arm_description import load_robot

pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
MODEL = load_robot("nut_arm")


@pytest.fixture
def start():
    """Return a function that creates the node, with its time at the test's command."""
    nodes = []

    def make(**parameters):
        words = [word for k, v in parameters.items() for word in ("-p", f"{k}:={v}")]
        rclpy.init(args=["--ros-args", "-p", "scene:=easel", *words])
        nodes.append(ContactWorldNode())
        return nodes[0]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()
    gc.collect()  # a node that was refused lives on, in its domain, by its own traceback


def test_arm_waits_for_pulses_and_then_follows_them_in_lock_step(start, tmp_path):
    registers, pace = tmp_path / "registers", tmp_path / "pace"
    node = start(registers=registers, pace=pace)
    options = DriverOptions(
        hardware="sim", backend="i2c_dev", sim_registers=str(registers), sim_pace=str(pace)
    )
    driver = Driver(MODEL, options)
    node._pace.driver = 0.1
    for _ in range(20):
        node._advance()
    assert (driver.clock.now(), node._world.time) == (pytest.approx(0.1), 0.0)  # no pulses yet
    driver.output.bus.open()
    driver.controller.read()
    driver.controller.arm()
    for _ in range(150):
        driver.controller.tick(driver.clock.now())
        node._pace.driver = before = driver.clock.now() + driver.period
        while driver.clock.now() < before - 1e-6:
            node._advance()
        node._advance()
        assert driver.clock.now() == pytest.approx(before)  # the world waits for the driver
    true, commanded = node._world.joints(), driver.controller.command()[0]
    for name, position in zip(MODEL.joint_names, commanded, strict=False):
        assert true[name] == pytest.approx(position, abs=0.03), name
    assert node._world.time == pytest.approx(3.0, abs=0.2)


def test_truth_and_contacts_are_published(start):
    node, probe = start(), Probe()
    joints, contacts, supply, frames = [], [], [], {}
    probe.node.create_subscription(
        TFMessage, "/tf", lambda m: frames.update((t.child_frame_id, t) for t in m.transforms), 10
    )
    probe.node.create_subscription(JointState, "ground_truth/joint_states", joints.append, 10)
    probe.node.create_subscription(MarkerArray, "ground_truth/contacts", contacts.append, 10)
    node._world.step(lambda _: 0.0, 250)  # limp, the arm falls on the table
    node._pace.driver = 1e9
    probe.node.create_subscription(BatteryState, "servo_supply", supply.append, 10)
    probe.until(lambda: node._advance() or (joints and contacts and frames and supply))
    assert supply[-1].current == pytest.approx(-node._world.supply_current, abs=1e-4)
    assert set(MODEL.joint_names) <= set(joints[-1].name)
    assert len(contacts[-1].markers) > 1
    lower_arm = transform_matrix(frames["ground_truth/elbow_link"].transform)
    np.testing.assert_allclose(lower_arm, node._world.pose_of("elbow_link"), atol=1e-9)
    probe.close()


def test_nut_and_payloads_are_put_back(start):
    node = start(scene="nut_transfer")
    scene = load_scene("nut_transfer", "nut_arm")
    node._world.place_nut(shift_z(0.3) @ scene.nut_start())
    assert start_disagreement(scene, node._nut.update(node._world.nut()))
    assert node._on_reset(Trigger.Request(), Trigger.Response()).success
    assert not start_disagreement(scene, node._nut.report)
    np.testing.assert_allclose(node._world.nut().pose, scene.nut_start(), atol=1e-9)


def test_divergence_ends_the_node_in_a_sentence(start):
    node = start()
    node._pace.driver, node._powered = 1e9, True
    node._world.mj_data.qpos[:] = math.nan
    with pytest.raises(InputError, match=r"diverged after .* means nothing; report the robot"):
        node._advance()
    assert not node._pace.world  # the driver waits: nothing goes on


def test_process_loads_no_scipy():
    """It would take more memory than the physics."""
    code = "import sys, arm_simulation.ros.contact_world_node; sys.exit('scipy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        (
            {"calibration": "nut_arm_feetech"},
            "nut_arm_feetech.yaml has none; use the geometric world",
        ),
        ({"pace": "/proc/none/pace"}, "cannot be written"),
    ],
)
def test_arm_that_cannot_be_simulated_is_refused_in_a_sentence(start, parameters, why):
    with pytest.raises(Exception, match=why) as error:
        start(**parameters)
    assert "\n" not in str(error.value)
