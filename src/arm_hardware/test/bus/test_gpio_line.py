# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import errno
import sys

import pytest
from arm_hardware.bus.gpio_line import GpioLine
from arm_hardware.errors import BusError


def test_line_is_an_output_and_low_at_first(gpio):
    from gpiod.line import Direction, Value

    GpioLine("GPIO17")
    settings = gpio.requested[17]
    assert settings["direction"] == Direction.OUTPUT.value
    assert settings["output_value"] == Value.INACTIVE.value


def test_levels_reach_the_line_until_it_is_given_back(gpio):
    line = GpioLine("GPIO17")
    for high in (True, False, False, True):
        line.set(high)
    assert gpio.levels == [1, 0, 0, 1]
    line.close()
    assert gpio.requested == {}


def test_unknown_line_is_one_sentence(gpio):
    with pytest.raises(BusError, match=r"There is no GPIO line GPIO99 \(devices: .*gpiochip0\)"):
        GpioLine("GPIO99")


def test_computer_without_gpio_is_one_sentence(gpio, tmp_path):
    (tmp_path / "gpiochip0").unlink()
    with pytest.raises(BusError, match=r"GPIO17 \(devices: none\)"):
        GpioLine("GPIO17")


def test_line_of_another_program_is_one_sentence(gpio):
    gpio.error = OSError(errno.EBUSY, "Device or resource busy")
    with pytest.raises(BusError, match=r"cannot be used .*busy.*end the program"):
        GpioLine("GPIO17")


def test_missing_permission_is_one_sentence(gpio, monkeypatch):
    def deny(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("gpiod._ext.Chip", deny)
    with pytest.raises(BusError, match=r"No permission for .*gpiochip0; add the user"):
        GpioLine("GPIO17")


def test_failure_while_driving_is_one_sentence(gpio):
    line = GpioLine("GPIO17")
    gpio.error = OSError(errno.ENODEV, "No such device")
    with pytest.raises(BusError, match=r"GPIO17 cannot be set .*No such device"):
        line.set(True)


def test_missing_library_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "gpiod", None)
    with pytest.raises(BusError, match="pip install gpiod") as caught:
        GpioLine("GPIO17")
    assert "\n" not in str(caught.value)
