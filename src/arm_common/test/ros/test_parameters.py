# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass

import pytest
from arm_common.ros.parameters import ParameterError, declare, parameter
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter


@dataclass(frozen=True)
class Settings:
    name: str = parameter("arm", "A name.")
    mode: str = parameter("fake", "A choice.", choices=("fake", "real"))
    rate: float = parameter(50.0, "A rate [Hz].", low=5.0, high=200.0, any_time=True)
    joints: int = parameter(0, "A count.", low=0, high=16)
    is_on: bool = parameter(False, "A switch.")
    topics: tuple[str, ...] = parameter(("a", "b"), "A list.")
    axes: tuple[int, ...] = parameter((0, 1), "Axes.", low=-1, high=7)


@pytest.fixture
def make():
    context = Context()
    context.init()
    nodes = []

    def make(**values):
        given = [Parameter(f"x.{name}", value=value) for name, value in values.items()]
        nodes.append(Node("settings", context=context, parameter_overrides=given))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def test_declare_returns_the_defaults(make):
    assert declare(make(), Settings, "x.") == Settings()


def test_values_are_converted_to_their_types(make):
    node = make(rate=20, joints=3.0, is_on=True, topics=["c"], mode="real")
    found = declare(node, Settings, "x.")
    assert found == Settings(rate=20.0, joints=3, is_on=True, topics=("c",), mode="real")
    assert type(found.rate) is float and type(found.joints) is int
    assert node.get_parameter("x.rate").value == 20.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"rate": 300.0}, "parameter x.rate is 300.0; expected a number from 5 to 200"),
        ({"rate": 300}, "parameter x.rate is 300; expected a number from 5 to 200"),
        ({"rate": "fast"}, "parameter x.rate is 'fast'; expected a number from 5 to 200"),
        ({"rate": float("nan")}, "parameter x.rate is nan; expected a number from 5 to 200"),
        ({"rate": True}, "parameter x.rate is true; expected a number from 5 to 200"),
        ({"joints": 1.5}, "parameter x.joints is 1.5; expected a whole number from 0 to 16"),
        ({"mode": "toaster"}, "parameter x.mode is 'toaster'; expected one of fake, real"),
        ({"name": 5}, "parameter x.name is 5; expected a string"),
        ({"is_on": "yes"}, "parameter x.is_on is 'yes'; expected true or false"),
        ({"topics": "a"}, "parameter x.topics is 'a'; expected a list, each entry a string"),
        ({"topics": [1]}, "expected a list, each entry a string"),
        ({"axes": [1, 9]}, "expected a list, each entry a whole number from -1 to 7"),
    ],
)
def test_invalid_value_is_reported_in_one_sentence(make, value, message):
    with pytest.raises(ParameterError) as error:
        declare(make(**value), Settings, "x.")
    assert message in str(error.value)


def test_only_dynamic_parameters_can_be_set_later(make):
    node = make()
    declare(node, Settings, "x.")

    def is_set(name, value):
        (result,) = node.set_parameters([Parameter(f"x.{name}", value=value)])
        return result.successful

    assert is_set("rate", 10.0)
    assert not is_set("rate", 300.0)
    assert not is_set("rate", "fast")
    assert not is_set("joints", 1)


@pytest.mark.parametrize("default", [1, 0.5, (1, 2)])
def test_number_without_a_range_cannot_be_declared(default):
    for bounds in ({}, {"low": 0.0}, {"high": 1.0}):
        with pytest.raises(ValueError, match="no range of the number"):
            parameter(default, "A number.", **bounds)


def test_descriptors_hold_description_and_limits(make):
    node = make()
    declare(node, Settings, "x.")
    rate, joints, mode = node.describe_parameters(["x.rate", "x.joints", "x.mode"])
    assert (rate.description, rate.read_only) == ("A rate [Hz].", False)
    assert (rate.floating_point_range[0].from_value, joints.integer_range[0].to_value) == (5.0, 16)
    assert mode.read_only and mode.additional_constraints == "one of fake, real"
