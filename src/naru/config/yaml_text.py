"""YAML as people write settings: no key stands twice, and what looks like a number, a yes or a day is still text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or a yes and how it was written: `3.10` is not `3.1`, `12:30` a number to YAML, `NO` a country."""

    value: int | float | bool
    written: str

    def __str__(self) -> str:
        return self.written


class _Loader(yaml.SafeLoader):
    """Makes no days of texts: no setting is one, and the thirteenth month is an error to YAML."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as the base class has it
        first: [one for one in resolvers if one[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.deep_construct = True  # what holds itself by an anchor is refused

    def scalar(self, node: yaml.ScalarNode) -> Scalar:
        made = yaml.SafeLoader.yaml_constructors[node.tag](self, node)
        return Scalar(made, node.value)


for _tag in ("int", "float", "bool"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.scalar)


def decode_yaml(text: str) -> Any:
    """Decode YAML, whose keys are unique: of two sections of one name the first would be passed over in silence.

    Numbers, yes and no come as `Scalar`.

    Raises:
        YAMLError: it is none.
    """
    try:
        _check_keys(yaml.compose(text, Loader=yaml.SafeLoader))
        return _Loader(text).get_single_data()
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    except ValueError as error:  # such as of `!!int x`
        raise yaml.YAMLError(str(error)) from error


def what_failed(error: Exception) -> str:
    """Say in a line what is wrong with a text that is no YAML, and in which of its lines; other errors as they are."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no UTF-8 text ({error.reason})"
    mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return f"line {mark.line + 1}: {said}" if mark and said else " ".join(str(error).split())


def _check_keys(root: yaml.Node | None) -> None:
    waiting = [root]
    seen: set[int] = set()  # an alias is the node that it names
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
            continue
        names: set[str] = set()
        for key, value in node.value:
            waiting.append(value)
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in names:
                    raise yaml.MarkedYAMLError(problem=f"{key.value!r} stands here twice", problem_mark=key.start_mark)
                names.add(key.value)
