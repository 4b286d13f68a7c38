"""What a published server wants to be told before it runs: asked for at a terminal, or given as `--set NAME=VALUE`.

What a publisher wrote never reads this machine's environment: a placeholder of Naru's in it is refused, since its value
would go to the server. What the person types may hold one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.cli.terminal.output import typed_in
from naru.errors import ConfigError, UserError
from naru.stores.formats.expand import names_variable

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that is asked for."""

    name: str
    description: str = ""
    kind: str = "string"
    """string, number, boolean, directory or file."""
    is_required: bool = False
    is_secret: bool = False
    is_repeated: bool = False
    """It may have several values."""
    default: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass
class Answers:
    """What was given or asked, and what holds by default."""

    typed: dict[str, list[str]] = field(default_factory=dict)
    defaults: dict[str, list[str]] = field(default_factory=dict)

    def of(self, name: str) -> list[str]:
        """Return the values of an input; none where nobody gave one."""
        return self.typed.get(name) or self.defaults.get(name, [])


def answer(inputs: Sequence[Input], given: Sequence[str]) -> Answers:
    """Take what was given and ask for the rest, where a person sits at a terminal.

    Raises:
        UserError: something that is needed is missing, or a value does not fit.
    """
    known = {one.name: one for one in inputs}
    answers = Answers(defaults={one.name: list(one.default) for one in inputs})
    for assignment in given:
        name, equals, value = assignment.partition("=")
        if name not in known or not equals:
            what = (
                f"--set {name[:80]!r} is no input of this server" if equals else "What --set was given is no NAME=VALUE"
            )
            raise UserError(f"{what}.", remedy=f"It asks for: {', '.join(known) or 'none'}.")
        if name in answers.typed and not known[name].is_repeated:
            raise UserError(f"--set {name} was given more than once, and this server takes one.", remedy="Say it once.")
        answers.typed.setdefault(name, []).append(_fitting(known[name], value))
    missing = [one for one in inputs if one.is_required and not answers.of(one.name)]
    if missing and not (os.isatty(0) and sys.stderr.isatty()):
        told = "; ".join(f"{one.name} ({one.description or one.kind})" for one in missing)
        raise UserError(f"This server needs: {told}.", remedy=" ".join(f"--set {one.name}=…" for one in missing))
    for one in missing:
        answers.typed[one.name] = [_asked(one)]
    return answers


def _asked(one: Input) -> str:
    choice = f" ({', '.join(one.choices)})" if one.choices else ""
    while True:
        said = typed_in(f"{one.description or one.name}{choice}", hidden=one.is_secret)
        try:
            return _fitting(one, said)
        except UserError as error:
            sys.stderr.write(f"{error.message}\n")


def _fitting(one: Input, value: str) -> str:
    if one.choices and value not in one.choices:
        raise UserError(f"{one.name} is one of {', '.join(one.choices)}.", remedy=f"--set {one.name}={one.choices[0]}")
    if one.kind == "number" and not re.fullmatch(r"-?\d+(\.\d+)?", value):
        raise UserError(f"{one.name} is a number.", remedy=f"--set {one.name}=1")
    if one.kind == "boolean":
        if value.lower() not in _TRUE + _FALSE:
            raise UserError(f"{one.name} is true or false.", remedy=f"--set {one.name}=true")
        return "true" if value.lower() in _TRUE else "false"
    return value


@dataclass
class Filling:
    """Puts values into a publisher's texts."""

    pattern: re.Pattern[str]
    """Group 1 is the name of what stands there."""
    answers: Answers
    places: Mapping[str, str] = field(default_factory=dict)
    """Names with a value of their own, such as the folder of a bundle."""

    def text(self, text: str, where: str) -> str:
        """Return a text with its values. Raises ConfigError when it reads a variable of this machine."""
        own = self._filled(text, lambda name: "x" if name in self.answers.typed else self._value(name))
        if names_variable(own):
            raise ConfigError(
                f"{where} of what was published holds {text[:120]!r}, which reads a variable of this machine.",
                remedy="Nothing was added. Ask its publisher; or add the server by hand: naru servers add NAME -- …",
            )
        return self._filled(text, self._value)

    def arguments(self, texts: Sequence[Any], where: str) -> list[str]:
        """Return arguments; one that is an input as a whole gives as many as it has values."""
        filled: list[str] = []
        for text in texts:
            whole = self.pattern.fullmatch(str(text))
            if whole and whole[1] not in self.places and whole[1] in self.answers.defaults:
                values = self.answers.of(whole[1])
                filled += values if whole[1] in self.answers.typed else [self.text(one, where) for one in values]
            else:
                filled.append(self.text(str(text), where))
        return filled

    def _value(self, name: str) -> str:
        return self.places[name] if name in self.places else ",".join(self.answers.of(name))

    def _filled(self, text: str, value: Callable[[str], str]) -> str:
        known = {*self.places, *self.answers.defaults}
        return self.pattern.sub(lambda match: value(match[1]) if match[1] in known else match[0], text)
