# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Scene": bodies around the arm, added, moved, sized and saved.

Edits are published as the text of the scene file; the node that shows the scene takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.transforms import Array, inverse
from arm_tasks.errors import SceneError, resolve, shipped
from arm_tasks.scene.editing import KINDS, SceneEditor
from arm_tasks.scene.scene import BASE_FRAME, Scene
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import SCENE
from arm_viewer.browser.texts import set_choice
from arm_viewer.control.controls import DragHandle
from arm_viewer.panels.interface import PanelContext, PanelEntry, PanelState, ShownFile
from arm_viewer.port import Where

from arm_studio.editing.file_editing import FileControls, FileEditing, show_entries

NOTHING = "–"
DRAG_PERIOD = 0.1  # [s] between two edits while the handle is dragged
HANDLE = "/scene_handle"
AT = (0.6, 0.0, 0.1)  # where a new body stands, in base_link, of the robot's size


class SceneEditing(FileEditing[Scene]):
    """The scene file that a page edits.

    Args:
        scene: a shipped name, or the path of a scene file.
        robot: name of the robot, for the placement of the scene.
        shown: the file that a page shows.

    Raises:
        SceneError: there is no such scene, or its file is invalid.
    """

    noun = "scene"
    editor: SceneEditor

    def __init__(self, scene: str, robot: str, shown: ShownFile[str]) -> None:
        super().__init__()
        self._show_text = shown.show
        path = resolve(scene, "scenes", "scene", SceneError)
        self._saved = path.read_bytes()
        self.path = path
        self.editor = SceneEditor(self._saved, path.name, robot=robot)

    def _shipped(self) -> Collection[Path]:
        return shipped("scenes").values()

    def _show(self) -> None:
        self._show_text(self.editor.data.decode("utf-8-sig"))

    def _watch(self, path: Path) -> None:
        """Leave it at that: what is shown comes from the page."""

    def edit(self, action: Callable[[SceneEditor], str]) -> str:
        """Edit the file; return why the edit is refused, or ""."""
        return self._change(lambda: action(self.editor))


class ScenePanel:
    """Lists, adds, moves and removes bodies."""

    title = "Scene"

    def __init__(self, context: PanelContext) -> None:
        model = context.model()
        robot = "" if model is None else model.name
        self._editing = SceneEditing(context.scene, robot, context.scene_file)
        self._editing.observe(self._show)
        self._context, self._selected = context, NOTHING
        tool = context.tool_frame
        self._base = tool.removesuffix("tool0") + BASE_FRAME
        self._shown: tuple[Any, ...] = ()  # what the fields were made for
        self._fields: dict[tuple[str | int, ...], tuple[Any, Any]] = {}  # with their problems
        self._dragged: Array | None = None  # base_link <- body, not yet applied
        self._timer = context.every(DRAG_PERIOD, self._apply_drag)
        self._timer.cancel()
        context.scene_file.on_saved = self._reload

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        self._gui, add = gui, gui.elements
        self._controls = FileControls(gui, self._editing, "scene")
        self._kind = gui.choice("Add", (NOTHING, *KINDS), NOTHING, self._add)
        self._list = gui.choice("Body", (NOTHING,), NOTHING, self._select)
        self._body = add.add_folder("Entries", visible=False)
        self._delete = gui.button("Delete", self._remove)
        self._controls.add_answer()
        self._handle = DragHandle(
            self._context.view.drawer.scene, gui.queue, self._drag, False, HANDLE
        )
        gui.on_dropped_drag(HANDLE, self._handle.put_back)
        self._show()

    def update(self, state: PanelState) -> None:
        """Put the handle at the body."""
        pose = self._editing.editor.model.frames.get(self._selected)
        base = self._context.view.store.frames.get(self._base)
        if pose is not None and base is not None:
            self._handle.set_tool(base @ pose, 0.7 * self._context.view.drawer.size)
        self._handle.show(pose is not None)

    def close(self) -> None:
        """Hide the handle."""
        self._timer.cancel()
        self._handle.show(False)

    def _reload(self) -> str:
        if problem := self._editing.reload():
            self._controls.say(problem)
        return problem

    def _add(self, kind: str) -> None:
        if kind == NOTHING:
            return
        self._kind.value = NOTHING  # the browser reports a choice only if it is another one
        at = self._context.view.drawer.size * np.array(AT)
        added = ""

        def edit(editor: SceneEditor) -> str:
            nonlocal added
            added, problem = editor.add(kind, at)
            return problem

        problem = self._editing.edit(edit)
        if not problem:
            self._select(added)
        self._controls.say(problem)

    def _remove(self) -> None:
        name = self._selected
        if name == NOTHING:
            self._controls.say("Choose a body first.")
            return
        problem = self._editing.edit(lambda editor: editor.remove(name))
        self._controls.say(problem)

    def _select(self, label: str) -> None:
        self._selected = label.partition(" · ")[0]
        self._show()
        self._context.redraw()

    def _drag(self, pose: Array) -> None:
        base = self._context.view.store.frames.get(self._base)
        if base is None:
            return
        if self._dragged is None:
            self._timer.reset()
        self._dragged = inverse(base) @ pose

    def _apply_drag(self) -> None:
        pose, self._dragged, name = self._dragged, None, self._selected
        self._timer.cancel()
        if pose is None or name not in self._editing.editor.model.frames:
            return
        goes_on = self._editing.goes_on(("move", name))
        problem = self._editing.edit(lambda editor: editor.move(name, pose, goes_on))
        self._controls.say(problem)

    def _enter(self, path: tuple[str | int, ...], text: str) -> None:
        self._editing.set(path, text)

    def _show(self) -> None:
        """Show the file as it is now."""
        editing = self._editing
        bodies = editing.editor.bodies()
        self._controls.show()
        if self._selected not in bodies:
            self._selected = NOTHING
        labels = {name: f"{name} · {section}" for name, section in bodies.items()}
        chosen = labels.get(self._selected, NOTHING)
        set_choice(self._list, (NOTHING, *labels.values()), chosen)
        entries = editing.editor.entries(self._selected) if self._selected in bodies else ()
        if self._shown != entries:
            self._shown = entries
            self._make_fields()
        show_entries(editing.editor, self._fields)
        self._delete.visible = self._selected != NOTHING

    def _make_fields(self) -> None:
        gui = self._gui
        self._fields.clear()
        self._body.visible = bool(self._shown)
        with gui.emptied(self._body):
            for entry in self._shown:
                field = gui.text(entry.label, "", partial(self._enter, entry.path))
                self._fields[entry.path] = field, gui.elements.add_html("", visible=False)


def _make(context: PanelContext) -> ScenePanel | None:
    return ScenePanel(context) if context.scene else None


ENTRY = PanelEntry(_make, 3.5, Where.MOVING, folded=False, tab=SCENE)
