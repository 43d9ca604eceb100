# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one fake of viser, and a page for panels without a browser and without ROS."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from contextlib import nullcontext
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from arm_description.library import load_robot
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui, element_id
from arm_viewer.panels.interface import CommandTable, PanelContext, PanelState, ShownFile
from arm_viewer.port import Where
from arm_viewer.scene.robot import read_robot

URDF = Path(__file__).with_name("desk_arm.urdf")
EVENTS = ("on_click", "on_update", "on_submit", "on_trigger")


@pytest.fixture(scope="session")
def urdf() -> str:
    """Return the description of an arm that stands on a desk."""
    return URDF.read_text()


class FakeElement(SimpleNamespace):
    """What viser returns for an added element; a folder or form, too."""

    def __init__(self, gui: FakeViserGui, kind: str, label: Any, values: dict[str, Any]) -> None:
        super().__init__(kind=kind, label=label, content=label, visible=True, order=1.0)
        self.__dict__.update({"options": (), "step": 1.0, "precision": None} | values)
        self.callbacks: list[Any] = []
        self.outer, self.is_removed = gui.inside, False
        self._gui, self._impl = gui, SimpleNamespace(uuid=f"{kind} {next(gui.numbers)}")
        for event in EVENTS:
            setattr(self, event, self.callbacks.append)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def add_tab(self, label: str) -> FakeElement:
        self._gui.added.append(FakeElement(self._gui, "tab", label, {}))
        return self._gui.added[-1]

    def __enter__(self) -> FakeElement:
        self._before, self._gui.inside = self._gui.inside, self
        return self

    def __exit__(self, *error: object) -> None:
        self._gui.inside = self._before

    @property
    def removed(self) -> bool:
        return self.is_removed or (self.outer is not None and self.outer.removed)

    def remove(self) -> None:
        self.is_removed = True

    def float(self, **place: float) -> None:
        """Place a window."""


class FakeViserGui:
    """viser's interface to GUI elements: keeps all that are added, and their last values."""

    def __init__(self) -> None:
        self.added: list[FakeElement] = []
        self.numbers = itertools.count()
        self.inside: FakeElement | None = None  # the folder that is filled

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("add_"):
            raise AttributeError(name)
        return partial(self._add, name.removeprefix("add_"))

    def _add(self, kind: str, label: Any = None, *values: Any, **options: Any) -> FakeElement:
        if kind in ("dropdown", "button_group"):
            options |= {"options": tuple(values[0])}
            values = (options["options"][0],)
        if kind in ("checkbox", "number", "slider", "text", "dropdown", "button_group", "button"):
            first = values[0] if values else None
            options["value"] = options.pop("initial_value", first)
        self.added.append(FakeElement(self, kind, label, options))
        return self.added[-1]


class FakeCamera(SimpleNamespace):
    """The camera of a browser."""

    image_width, image_height = 800, 600


class FakeClient(SimpleNamespace):
    """A browser with a picture."""

    def __init__(self, client_id: int = 0, **camera: Any) -> None:
        super().__init__(client_id=client_id, atomic=nullcontext, camera=FakeCamera(**camera))


class FakeServer:
    """A server without a network, whose browsers have pictures of some shapes."""

    def __init__(self, *aspects: float) -> None:
        self.gui, self.initial_camera = FakeViserGui(), FakeCamera()
        place = {"position": np.full(3, 3.0), "look_at": np.zeros(3)}
        self.clients = {
            number: FakeClient(number, aspect=aspect, **place)
            for number, aspect in enumerate(aspects)
        }

    def get_clients(self) -> dict[int, FakeClient]:
        return self.clients


class FakeGui(PageGui):
    """The elements of a page, as a user finds and uses them."""

    def __init__(self) -> None:
        server: Any = FakeServer()
        self.viser, self.posted = server.gui, threading.Event()
        self.access = make_access("127.0.0.1")
        queue = CallbackQueue()
        queue.open(self.posted.set)
        super().__init__(server, queue, self.access)

    @property
    def shown(self) -> list[FakeElement]:
        return [element for element in self.viser.added if not element.removed]

    def labels(self, *kinds: str) -> list[str]:
        """Return the labels that are seen, of some kinds or of all but tabs."""
        shown = (element for element in self.shown if element.label)
        return [e.label for e in shown if (e.kind in kinds if kinds else e.kind != "tab")]

    def find(self, label: str) -> FakeElement:
        fields = [e for e in reversed(self.shown) if e.kind not in ("html", "tab")]
        rows = (e for e in fields if e.kind == "button_group" and label in e.options)
        return next((element for element in fields if element.label == label), None) or next(rows)

    def below(self, label: str) -> FakeElement:
        """Return the text below a field."""
        shown = self.shown
        after = shown[shown.index(self.find(label)) :]
        return next(element for element in after if element.kind == "html")

    def use(self, label: str, value: Any = True, client: Any = None) -> None:
        """Set an element as a user does; press a button; type a line and Enter."""
        element = self.find(label)
        element.value = label if element.label != label else value
        outer = element.outer
        self.fire(outer if outer is not None and outer.kind == "form" else element, client)

    def edit(self, key: str, text: str = "", action: str = "set") -> None:
        """Do to a cell of a grid what the page's script does."""
        marks = f'data-cell="{key}"', f'"cell": "{key}"'
        texts = (unescape(str(element.content)) for element in self.shown)
        html = next(text for text in texts if any(mark in text for mark in marks))
        uuid = html.partition('data-grid="')[2].partition('"')[0]
        line = next(e for e in self.shown if element_id(e) == uuid)
        line.value = f"{json.dumps({'do': action, 'cell': key, 'text': text})} #1"
        self.fire(line)

    def fire(self, element: FakeElement, client: Any = None) -> None:
        for callback in element.callbacks:
            event = SimpleNamespace(client_id=0, client=client, target=element)
            asyncio.run(callback(event))
        self.queue.drain()

    def is_ageless(self, label: str, value: Any) -> bool:
        return self.access.link.ageless[element_id(self.find(label))](value)

    def marked(self, key: str) -> str:
        """Return the texts that are marked with a key."""
        mark = f'data-arm="{key}"'
        texts = (str(element.content) for element in self.shown if element.kind == "html")
        return "".join(text for text in texts if mark in text)

    @property
    def answer(self) -> str:
        return self.marked("answer")


class FakeTimer:
    def __init__(self, action: Any) -> None:
        self.action, self.running = action, True

    def cancel(self) -> None:
        self.running = False

    def reset(self) -> None:
        self.running = True

    def is_canceled(self) -> bool:
        return not self.running


class FakePage:
    """A page of a robot; `moved`, `targets` and `reports` are what its panels have asked for."""

    def __init__(self, robot: str = "", where: Where = Where.ALONE, **more: Any) -> None:
        self.gui, self.commands = FakeGui(), CommandTable()
        self.moved: list[Any] = []
        self.targets: list[Any] = []
        self.reports: list[str] = []
        self.shown: list[Any] = []
        self.watched: list[Any] = []
        self.timers: list[FakeTimer] = []
        self.problem, self.limited, self.time = "", lambda model: model, 0.0
        self.model = load_robot(robot) if robot else None
        self.robot = None if self.model is None else read_robot(self.model.to_urdf())
        joints = () if self.robot is None else self.robot.joints
        self.positions = {joint.name: 0.0 for joint in joints}
        drawer = SimpleNamespace(size=0.5, mark_axis=lambda robot, joint: None)
        store = SimpleNamespace(robot=self.robot)
        self.file = ShownFile(self._show, self._take, self.watched.append, begin=self._show)
        values = {
            "where": where,
            "robot": robot,
            "scene": "",
            "tool_frame": "tool0",
            "view": SimpleNamespace(store=store, drawer=drawer),
            "model": lambda: self.model,
            "robot_file": self.file if robot else None,
            "scene_file": ShownFile(self.shown.append, self.shown.append, self.watched.append),
            "commands": self.commands,
            "positions": lambda: self.positions,
            "move": self._move,
            "move_tool": self.targets.append,
            "postures": dict,
            "report": self.reports.append,
            "limited": lambda model: self.limited(model),
            "redraw": lambda: None,
            "now": lambda: self.time,
            "every": self._every,
        }
        self.context = PanelContext(**(values | more))
        self.state = PanelState(self.robot, self.positions)

    def build(self, kind: Any, *arguments: Any) -> Any:
        """Return a panel that is built and has the first state."""
        panel = kind(self.context, *arguments)
        panel.build(self.gui)
        panel.update(self.state)
        return panel

    def _show(self, model: Any) -> None:
        self.shown.append(model)
        self._take(model)

    def _take(self, model: Any) -> None:
        self.model = model

    def _move(self, joints: Any) -> str:
        self.moved.append(joints)
        self.positions |= joints
        return self.problem

    def _every(self, period: float, action: Any) -> FakeTimer:
        self.timers.append(FakeTimer(action))
        return self.timers[-1]
