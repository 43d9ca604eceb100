# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

from arm_viewer.panels.interface import PanelEntry, PanelHost, PanelState, Where


class Folder:
    def __init__(self, title, order, expand_by_default):
        self.title, self.expanded, self.events = title, expand_by_default, []

    def __enter__(self):
        self.events.append("enter")

    def __exit__(self, *error):
        self.events.append("exit")

    def remove(self):
        self.events.append("remove")


class Recorded:
    def __init__(self, title):
        self.title, self.calls = title, []

    def build(self, gui):
        self.calls.append("build")

    def update(self, state):
        self.calls.append(state)

    def close(self):
        self.calls.append("close")


class Failing(Recorded):
    """A panel that fails in one of its methods."""

    def __init__(self, title, method):
        super().__init__(title)
        setattr(self, method, self.fail)

    def fail(self, *arguments):
        raise ValueError(f"{self.title} failed")


def test_panel_that_fails_is_left_out_and_nothing_else():
    folders, failed = [], []

    def add_folder(*arguments, **options):
        folders.append(Folder(*arguments, **options))
        return folders[-1]

    def make_nothing(context):
        raise OSError("no such folder")

    gui = SimpleNamespace(
        elements=SimpleNamespace(add_folder=add_folder),
        failed=lambda title, error: failed.append((title, str(error))),
    )
    good, late = Recorded("Good"), Failing("Late", "update")
    panels = [Failing("Early", "build"), late, good]
    host = PanelHost(gui, context=None)
    entries = [PanelEntry(make_nothing, 0.0, Where.ALONE)]
    entries += [PanelEntry(lambda context, p=panel: p, 1.0, Where.ALONE) for panel in panels]
    host.add(entries, Where.ALONE)
    state = PanelState(None, {}, "", None)
    for _ in range(2):
        host.update(state)
    host.close()
    assert good.calls == ["build", state, state, "close"]
    assert failed == [
        ("of a file", "no such folder"),
        ("Early", "Early failed"),
        ("Late", "Late failed"),
    ]
    assert all(folder.events[-1] == "remove" for folder in folders)


def test_panels_are_built_in_their_folders_where_they_are_shown_and_closed():
    folders = []

    def add_folder(*arguments, **options):
        folders.append(Folder(*arguments, **options))
        return folders[-1]

    gui = SimpleNamespace(elements=SimpleNamespace(add_folder=add_folder))
    alone, both = Recorded("Alone"), Recorded("Both")
    entries = [
        PanelEntry(lambda context: alone, 1.0, Where.ALONE),
        PanelEntry(lambda context: both, 2.0, Where.MOVING, folded=False),
    ]
    host = PanelHost(gui, context=None)
    host.add(entries, Where.RUNNING)
    state = PanelState(None, {}, "", None)
    host.update(state)
    host.close()
    assert (alone.calls, both.calls) == ([], ["build", state, "close"])
    assert [(folder.title, folder.expanded) for folder in folders] == [("Both", True)]
    assert folders[0].events == ["enter", "exit", "remove"]
