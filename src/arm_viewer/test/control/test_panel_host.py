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
