# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A GPIO chip in place of the kernel's, below libgpiod's Python bindings."""

import errno
from types import SimpleNamespace

import pytest


class Gpio:
    """One GPIO chip below libgpiod's Python bindings: what their C extension would do."""

    def __init__(self) -> None:
        self.names = {"GPIO4": 4, "GPIO17": 17}
        self.requested: dict[int, dict] = {}
        self.levels: list[int] = []  # of the requested line, one after another
        self.error: OSError | None = None  # raised by whatever touches a line
        self.changed = lambda: None

    def chip(self, path):
        """Return a chip as the extension's Chip(path) does."""
        return SimpleNamespace(
            path=path,
            line_offset_from_id=self._offset,
            request_lines=self._request,
            get_info=lambda: SimpleNamespace(num_lines=54),
            close=lambda: None,
        )

    def _offset(self, name):
        if name not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return self.names[name]

    def _request(self, config, consumer, size):
        if self.error:
            raise self.error
        self.requested |= config.lines
        return SimpleNamespace(
            set_values=self._set,
            release=self.requested.clear,
            chip_name="gpiochip0",
            offsets=list(config.lines),
        )

    def _set(self, values):
        if self.error:
            raise self.error
        (value,) = values.values()
        self.levels.append(value.value)
        self.changed()


class GpioConfig:
    """The extension's LineConfig."""

    def __init__(self) -> None:
        self.lines: dict[int, dict] = {}

    def add_line_settings(self, offsets, settings) -> None:
        self.lines |= dict.fromkeys(offsets, settings)


@pytest.fixture
def gpio(tmp_path, monkeypatch) -> Gpio:
    """Return a GPIO chip in place of the kernel's."""
    pytest.importorskip("gpiod")
    made = Gpio()
    (tmp_path / "gpiochip0").touch()
    monkeypatch.setattr("arm_hardware.bus.gpio_line.DEVICES", tmp_path)
    monkeypatch.setattr("gpiod._ext.Chip", made.chip)
    monkeypatch.setattr("gpiod._ext.LineConfig", GpioConfig)
    monkeypatch.setattr("gpiod._ext.LineSettings", dict)
    return made
