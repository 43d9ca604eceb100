# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Edit YAML text in place: only the characters of the edited values change.

Comments, layout, line endings and a byte order mark are preserved. `CheckedEditor` edits a file
that stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import yaml

from arm_common.errors import InputError
from arm_common.yaml.document import compose

_BOM = b"\xef\xbb\xbf"
_NUMBER_LIKE = "0123456789+-."
Step: TypeAlias = str | int  # a key, or the index of an item
EntryPath: TypeAlias = tuple[Step, ...]  # of an entry, from the root of the file
Model = TypeVar("Model")
CORRECT_FIRST = "Correct the marked entries first, or undo."
MAX_UNDO = 200


class YamlEditor:
    """Editor of a valid YAML file whose root is a mapping.

    A path lists the keys, and the indices of lists, from the root to a value; ``()`` is the root.
    Values are YAML on one line and are not checked: parse the result before you store it.

    Args:
        data: Content of the file, UTF-8.
    """

    def __init__(self, data: bytes) -> None:
        self._bom = _BOM if data.startswith(_BOM) else b""
        self._text = data.decode("utf-8-sig")
        self._root: yaml.Node | None = None  # of the text, once it is parsed
        self._newline = "\r\n" if "\r\n" in self._text else "\n"

    @property
    def data(self) -> bytes:
        """Content of the edited file."""
        return self._bom + self._text.encode()

    def find(self, *path: Step) -> yaml.Node | None:
        """Return the node of a value, None if it is missing."""
        if self._root is None:
            self._root = compose(self._text)
        node = self._root
        for key in path:
            if isinstance(key, int):
                items = node.value if isinstance(node, yaml.SequenceNode) else []
                node = items[key] if 0 <= key < len(items) else None
            else:
                node = next((value for name, value in _entries(node) if name == key), None)
        return node

    def scalar(self, *path: Step) -> str:
        """Return a scalar as written in the file, "" if it is missing or not a scalar."""
        node = self.find(*path)
        return str(node.value) if isinstance(node, yaml.ScalarNode) else ""

    def count(self, *path: Step) -> int:
        """Return the number of items of a list; 0 if the value is missing or not a list."""
        node = self.find(*path)
        return len(node.value) if isinstance(node, yaml.SequenceNode) else 0

    def keys(self, *path: Step) -> list[str]:
        """Return the keys of a mapping; none if the value is missing or not a mapping."""
        return [name for name, _ in _entries(self.find(*path))]

    def set(self, path: Sequence[Step], value: str) -> None:
        """Replace a value, or `add` it if it is missing."""
        old = self.find(*path)
        if old is None:
            self.add(path, value)
        else:
            start = old.start_mark.index
            gap = " " * self._text[:start].endswith(":")  # there was no value
            self._replace(start, _end_index(old), gap + value)

    def add(self, path: Sequence[Step], value: str) -> None:
        """Add a key at the end of its mapping, which is added to the root if it is missing.

        Raises:
            InputError: The mapping cannot be added, because the file is written in braces.
        """
        *above, key = path
        entry = f"{flow_word(str(key))}: {value}"
        mapping, root = self.find(*above), self.find()
        assert isinstance(root, yaml.MappingNode)
        if isinstance(mapping, yaml.MappingNode) and mapping.value:
            self._append(mapping, entry)
        elif isinstance(mapping, yaml.MappingNode):
            self._fill(mapping, entry, in_block=len(above) == 1 and not root.flow_style)
        elif root.flow_style:
            raise InputError(
                "the whole file is in braces {}", remedy="write one key per line, without braces"
            )
        else:
            self._add_section(flow_word(str(above[0])), entry)

    def remove(self, path: Sequence[Step]) -> None:
        """Remove a key with its value; an emptied mapping becomes ``{}``."""
        *above, key = path
        mapping = self.find(*above)
        assert isinstance(mapping, yaml.MappingNode)
        index = next(i for i, (name, _) in enumerate(mapping.value) if name.value == key)
        name, value = mapping.value[index]
        start, end = name.start_mark.index, _end_index(value)
        if mapping.flow_style:
            if index + 1 < len(mapping.value):
                end = mapping.value[index + 1][0].start_mark.index
            elif index:
                start = _end_index(mapping.value[index - 1][1])
        else:  # whole lines, with the comment after the value
            start = self._text.rfind("\n", 0, start) + 1
            line_end = self._text.find("\n", end)
            end = line_end + 1 if line_end >= 0 else len(self._text)
        self._replace(start, end, "")
        if above and len(mapping.value) == 1 and not mapping.flow_style:
            colon = self._text.rfind(":", 0, mapping.start_mark.index) + 1
            self._replace(colon, colon, " {}")

    def rename(self, path: Sequence[Step], name: str) -> None:
        """Give a key of a mapping another name; its value and place stay."""
        *above, key = path
        mapping = self.find(*above)
        assert isinstance(mapping, yaml.MappingNode)
        old = next(node for node, _ in mapping.value if node.value == key)
        self._replace(old.start_mark.index, old.end_mark.index, flow_word(name))

    def scalars(self, *path: Step) -> list[tuple[tuple[Step, ...], str]]:
        """Return path and text of each scalar in a value, in the order of the file."""
        return list(_scalars(self.find(*path), path))

    def insert_item(self, path: Sequence[Step], index: int, value: str) -> None:
        """Insert an item before that with an index in a list that is not empty, or at its end."""
        items = self._items(path)
        near = items[min(index, len(items) - 1)]
        is_last = index >= len(items)
        if self._is_in_flow(path):
            at = _end_index(near) if is_last else near.start_mark.index
            self._replace(at, at, f", {value}" if is_last else f"{value}, ")
            return
        start, end = self._lines_of(near)
        dash = self._text.index("-", start)
        line = f"{self._text[start:dash]}- {value}{self._newline}"
        if is_last and not self._text[:end].endswith("\n"):
            line = f"{self._newline}{line}"
        at = end if is_last else start
        self._replace(at, at, line)

    def remove_item(self, path: Sequence[Step], index: int) -> None:
        """Remove one of several items of a list, with the comments in its lines."""
        items = self._items(path)
        start, end = self._lines_of(items[index])
        if self._is_in_flow(path):
            start, end = items[index].start_mark.index, _end_index(items[index])
            if index + 1 < len(items):
                end = items[index + 1].start_mark.index
            else:
                start = _end_index(items[index - 1])
        self._replace(start, end, "")

    def swap_items(self, path: Sequence[Step], index: int) -> None:
        """Swap an item of a list with the next one, each with the comments in its lines."""
        first, second = self._items(path)[index : index + 2]
        if self._is_in_flow(path):
            spans = [(node.start_mark.index, _end_index(node)) for node in (first, second)]
        else:
            spans = [self._lines_of(first), self._lines_of(second)]
        (start, end), (next_start, next_end) = spans
        text = self._text
        moved, between = text[next_start:next_end], text[end:next_start]
        if not self._is_in_flow(path) and not moved.endswith("\n"):
            moved += self._newline
        self._replace(start, next_end, moved + between + text[start:end])

    def _items(self, path: Sequence[Step]) -> list[yaml.Node]:
        node = self.find(*path)
        assert isinstance(node, yaml.SequenceNode)
        return list(node.value)

    def _is_in_flow(self, path: Sequence[Step]) -> bool:
        return bool(getattr(self.find(*path), "flow_style", False))

    def _lines_of(self, item: yaml.Node) -> tuple[int, int]:
        """Return start and end of the lines of an item of a list in block style."""
        dash = self._text.rfind("-", 0, item.start_mark.index)
        end = self._text.find("\n", _end_index(item))
        start = self._text.rfind("\n", 0, dash) + 1
        return start, end + 1 if end >= 0 else len(self._text)

    def _append(self, mapping: yaml.MappingNode, entry: str) -> None:
        """Add an entry after the last one and the comment in its line."""
        end = _end_index(mapping.value[-1][1])
        if mapping.flow_style:
            self._replace(end, end, f", {entry}")
            return
        end = self._line_end(end)
        indent = " " * mapping.value[0][0].start_mark.column
        self._replace(end, end, f"{self._newline}{indent}{entry}")

    def _fill(self, mapping: yaml.MappingNode, entry: str, in_block: bool) -> None:
        """Insert the first entry into ``{}``; in a section of a block file on its own line."""
        start, end = mapping.start_mark.index, mapping.end_mark.index
        if not in_block:
            self._replace(start, end, f"{{{entry}}}")
            return
        at = self._line_end(end)
        self._replace(at, at, f"{self._newline}  {entry}")
        self._replace(start - self._text[:start].endswith(" "), end, "")

    def _add_section(self, name: str, entry: str) -> None:
        text, newline = self._text, self._newline
        if text.rstrip().endswith("\n..."):  # end of the document: nothing may follow
            text = text.rstrip().removesuffix("...")
        text = f"{text.rstrip()}{newline}"
        self._replace(0, len(self._text), f"{text}{newline}{name}:{newline}  {entry}{newline}")

    def _line_end(self, index: int) -> int:
        end = self._text.find("\n", index)
        end = len(self._text) if end < 0 else end
        return end - self._text[:end].endswith("\r")

    def _replace(self, start: int, end: int, text: str) -> None:
        self._text, self._root = self._text[:start] + text + self._text[end:], None


@dataclass(frozen=True)
class WrongEntry:
    """An entry that the reader has refused."""

    text: str
    problem: str  # the reader's sentence


@dataclass
class CheckedEditor(Generic[Model]):
    """The text of a valid file, what it describes, and what can be undone.

    An entry that the reader refuses is remembered with the reader's sentence and tried again with
    each later edit: two entries that are valid only together can be typed in any order.

    Attributes:
        data: the text of the last valid file, UTF-8.
        name: name of the file in messages.
        model: what the text describes.
        wrong: refused entries by their path.
    """

    data: bytes
    name: str = "file"
    folder: Path | None = None  # where the files are that it names
    model: Model = field(init=False)
    wrong: dict[EntryPath, WrongEntry] = field(default_factory=dict)
    _undo: list[bytes] = field(default_factory=list)
    _redo: list[bytes] = field(default_factory=list)
    _gesture: EntryPath = ()  # the entry of the last edit
    _read: tuple[bytes, YamlEditor] | None = None  # the text parsed last

    def __post_init__(self) -> None:
        """Raise the reader's error if the text is invalid."""
        self.model = self.parse(self.data)

    def parse(self, data: bytes) -> Model:
        """Return what a text describes; raise an InputError if it is invalid."""
        raise NotImplementedError

    def enter(self, editor: YamlEditor, path: EntryPath, text: str) -> None:
        """Write an entry, or remove it if the text is empty."""
        raise NotImplementedError

    def written(self, editor: YamlEditor, path: EntryPath) -> str:
        """Return an entry as it is in the file."""
        return editor.scalar(*path)

    @property
    def reading(self) -> YamlEditor:
        """The text, parsed once; it must not be edited."""
        if self._read is None or self._read[0] is not self.data:
            self._read = self.data, YamlEditor(self.data)
        return self._read[1]

    def text(self, path: EntryPath) -> str:
        """Return an entry as it was typed last, "" if it is missing."""
        return self.wrong[path].text if path in self.wrong else self.written(self.reading, path)

    def set(self, path: EntryPath, text: str, gesture: bool = False) -> str:
        """Change an entry; return the reader's sentence if it is refused, or "".

        Args:
            path: of the entry; one that is missing is added.
            text: a number or an expression; empty to remove the entry.
            gesture: whether this goes on with what the last call changed, such as a slider does,
                so that one undo takes back all of it.
        """
        self.set_all({path: text.strip()}, path if gesture else ())
        return self.wrong[path].problem if path in self.wrong else ""

    def set_all(self, entries: Mapping[EntryPath, str], gesture: EntryPath = ()) -> None:
        """Change entries as one step; those that the reader refuses are in `wrong` afterwards.

        Args:
            entries: texts by path, see `set`; at least one.
            gesture: what is changed, if this goes on with the last change of the same.
        """
        typed = {**{path: entry.text for path, entry in self.wrong.items()}, **entries}
        merge, before = bool(gesture) and self._gesture == gesture, self.data
        if not self._enter(typed, merge):
            self.wrong.clear()
            entries = {}
        for path, text in entries.items():
            self.wrong.pop(path, None)
            if problem := self._enter({path: text}, merge or self.data != before):
                self.wrong[path] = WrongEntry(text, problem)
        if self.data != before:
            self._try_again()
        self._gesture = () if typed.keys() & self.wrong.keys() else gesture or next(iter(typed))

    def _try_again(self) -> None:
        """Enter what was refused and may be valid now, as part of the last step."""
        for path, entry in tuple(self.wrong.items()):
            if problem := self._enter({path: entry.text}, merge=True):
                self.wrong[path] = WrongEntry(entry.text, problem)
            else:
                del self.wrong[path]

    def _enter(self, entries: Mapping[EntryPath, str], merge: bool) -> str:
        def change(editor: YamlEditor) -> None:
            for path, text in entries.items():
                self.enter(editor, path, text)

        return self._try(change, merge)

    def replace(self, data: bytes) -> str:
        """Replace the whole text, as one step that can be undone; return why not, or ""."""
        self.wrong.clear()
        return self._take(data)

    def undo(self) -> bool:
        """Take the last edit back, and all refused entries; return whether there was one."""
        return self._step_back(self._undo, self._redo)

    def redo(self) -> bool:
        """Do the edit again that was taken back last; return whether there was one."""
        return self._step_back(self._redo, self._undo)

    def _step_back(self, source: list[bytes], target: list[bytes]) -> bool:
        had_wrong, self._gesture = bool(self.wrong), ()
        self.wrong.clear()
        if not source:
            return had_wrong
        target.append(self.data)
        self.data = source.pop()
        self.model = self.parse(self.data)
        return True

    def change(self, change: Callable[[YamlEditor], None], gesture: EntryPath = ()) -> str:
        """Change more than one entry, as one step; return why this is refused, or "".

        Args:
            change: edits the text.
            gesture: what is changed, if this goes on with the last change of the same.
        """
        merge = bool(gesture) and gesture == self._gesture
        problem = CORRECT_FIRST if self.wrong else self._try(change, merge)
        self._gesture = () if problem else gesture
        return problem

    def _try(self, change: Callable[[YamlEditor], None], merge: bool = False) -> str:
        editor = YamlEditor(self.data)
        try:
            change(editor)
        except InputError as error:
            return str(error)
        return self._take(editor.data, merge)

    def _take(self, data: bytes, merge: bool = False) -> str:
        try:
            model = self.parse(data)
        except InputError as error:
            return str(error)
        if data != self.data:
            if not merge:
                self._undo = [*self._undo, self.data][-MAX_UNDO:]
            self._redo.clear()
            self.data, self.model = data, model
        return ""


def with_values(data: bytes, path: Sequence[Step], values: Mapping[str, str]) -> bytes:
    """Return a file with keys of the mapping at a path set; see `YamlEditor`."""
    editor = YamlEditor(data)
    for key, value in values.items():
        editor.set((*path, key), value)
    return editor.data


def flow_mapping(values: Mapping[str, str], separator: str = ", ") -> str:
    """Return a flow mapping ``{..}`` of keys and values that are YAML already."""
    return "{" + separator.join(f"{key}: {value}" for key, value in values.items()) + "}"


def flow_word(text: str) -> str:
    """Return a text as a scalar of a flow collection, quoted where necessary."""
    dumped = yaml.safe_dump(
        [text],
        default_style=preferred_quote(text),
        default_flow_style=True,
        width=float("inf"),
        allow_unicode=True,
    )
    return str(dumped).strip()[1:-1]


def preferred_quote(text: str) -> str | None:
    """Return the quote that a text should have even where YAML does not need it, or None."""
    return '"' if text[:1] in _NUMBER_LIKE or not text.isprintable() else None


def _entries(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [(str(key.value), value) for key, value in pairs]


def _scalars(
    node: yaml.Node | None, path: tuple[Step, ...]
) -> Iterator[tuple[tuple[Step, ...], str]]:
    if isinstance(node, yaml.ScalarNode):
        yield path, str(node.value)
    items = enumerate(node.value) if isinstance(node, yaml.SequenceNode) else _entries(node)
    for key, value in items:
        yield from _scalars(value, (*path, key))


def _end_index(node: yaml.Node) -> int:
    """Return the end of a value; the end mark of a block lies after any following comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_index(last[1] if isinstance(node, yaml.MappingNode) else last)
    return int(node.end_mark.index)
