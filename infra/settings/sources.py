"""Reads a values file as YAML 1.2 and remembers the line of everything in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from infra.settings.locate import join
from infra.settings.problems import Problem
from infra.settings.tree import Items, Leaf, Map, Origin, Tree

if TYPE_CHECKING:
    from pathlib import Path

MOST_VALUES = 100_000
"""More than any platform needs; stops aliases that multiply without end."""

STANDARD = "tag:yaml.org,2002:"
UNTAGGED = frozenset(f"{STANDARD}{kind}" for kind in ("str", "seq", "map"))

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class Source:
    """One values file.

    Args:
        path: where it lies.
        name: what to call it in messages.

    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.problems: list[Problem] = []
        self._values = 0

    def read(self) -> Map | None:
        """Return the file's content, or None with the reasons in `problems`."""
        text = self._text()
        if text is None:
            return None
        try:
            nodes = list(yaml.compose_all(text, Loader=yaml.BaseLoader))
        except yaml.YAMLError as error:
            self._syntax(error)
            return None
        except RecursionError:
            self._report(0, "is nested too deeply", "Write fewer levels")
            return None
        nodes = [node for node in nodes if node is not None]
        if not nodes or nodes[0].value == "":
            self._report(0, "is empty", "Write at least one section, such as `cluster:`")
        elif len(nodes) > 1:
            self._report(_line(nodes[1]), "starts a second document", "Write one document, without `---` inside it")
        elif not isinstance(nodes[0], MappingNode):
            self._report(_line(nodes[0]), "is not a map of sections", "Write keys, such as `cluster:`")
        else:
            tree = self._map(nodes[0], "", Origin(self.name, _line(nodes[0])), ())
            return None if self.problems else tree
        return None

    def _text(self) -> str | None:
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            self._report(0, "does not exist", "Create it, or correct the name")
        except OSError as error:
            self._report(0, f"cannot be read: {error.strerror}", "Correct its permissions or its kind")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            self._report(line, "is not UTF-8 text", "Save the file as UTF-8")
        else:
            return text
        return None

    def _syntax(self, error: yaml.YAMLError) -> None:
        """Report what stopped the parser, without quoting the text it stopped at."""
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        what = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
        line = mark.line + 1 if mark else 0
        if isinstance(error, ReaderError):
            what = f"contains the character U+{error.character:04X}"
            self._report(0, what, "Remove it: YAML takes only printable text")
        elif what and r"'\t'" in what:
            self._report(line, "is indented with a tab", "Indent with spaces: YAML knows no tabs")
        else:
            self._report(line, f"is not valid YAML: {what}", "Correct the line or the one before it")

    def _tree(self, node: Node, path: str, origin: Origin, above: tuple[Node, ...]) -> Tree:
        self._values += 1
        line = _line(node)
        if node in above:
            self._report(line, "is an alias of what contains it", "Write it out", path)
        elif self._values > MOST_VALUES:
            if self._values == MOST_VALUES + 1:
                self._report(line, f"is one of more than {MOST_VALUES} values", "Repeat fewer aliases", path)
        else:
            if node.tag not in UNTAGGED:
                tag = node.tag.replace(STANDARD, "!!")
                self._report(line, f"has the tag {tag}", "Remove it: values need no tags", path)
            if isinstance(node, MappingNode):
                return self._map(node, path, origin, above)
            if isinstance(node, SequenceNode):
                return self._items(node, path, origin, above)
            return Leaf(_scalar(cast("ScalarNode", node)), origin)
        return Leaf(None, origin)

    def _items(self, node: SequenceNode, path: str, origin: Origin, above: tuple[Node, ...]) -> Items:
        items = (
            self._tree(item, join(path, index), Origin(self.name, _line(item)), (*above, node))
            for index, item in enumerate(node.value)
        )
        return Items(tuple(items), origin)

    def _map(self, node: MappingNode, path: str, origin: Origin, above: tuple[Node, ...]) -> Map:
        entries: dict[str, Tree] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), _line(key_node)
            if not isinstance(key_node, ScalarNode):
                self._report(line, "has a key that is not text", "Write a plain word as the key", path)
            elif key == "<<" and key_node.style is None:
                what = "uses a merge key, which YAML 1.2 does not have"
                self._report(line, what, "Write the keys out", path)
            elif key in entries:
                what = f"is given twice, first on line {lines[key]}"
                self._report(line, what, "Keep one of them", join(path, key))
            else:
                place = Origin(self.name, line)
                entries[key] = self._tree(value_node, join(path, key), place, (*above, node))
                lines[key] = line
        return Map(entries, origin)

    def _report(self, line: int, what: str, remedy: str, path: str = "") -> None:
        self.problems.append(Problem(self.name, line, path, what, remedy))


def _line(node: Node) -> int:
    return node.start_mark.line + 1


def _scalar(node: ScalarNode) -> str | int | float | bool | None:
    """Resolve a scalar by YAML 1.2's core schema, in which `no` and `012` are text."""
    text = str(node.value)
    if node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and "." in text else text
