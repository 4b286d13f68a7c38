"""Where a program's own options begin, in `naru servers add NAME -- PROGRAM --its-option`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

from naru.cli.published.adding import is_published
from naru.errors import ConfigError


class ProgramLast(TyperCommand):
    """A command whose last argument may be a program: whether `-y` after it is Naru's or the program's, `--` says."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words as every command does, once it is clear whose each option is. Raises ConfigError."""
        with_value = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        _check(args, with_value)
        return super().parse_args(ctx, args)


def _check(args: Sequence[str], with_value: set[str]) -> None:
    words: list[str] = []
    left = iter(range(len(args)))
    for place in left:
        word = args[place]
        is_option = word.startswith("-") and word != "-"
        if word == "--":
            return
        if not is_option:
            words.append(word)
        elif len(words) >= 2:  # the name, and what it is
            program = words[1]
            if "://" in program or is_published([program]):
                return
            option = word.partition("=")[0]  # what it is given may be a secret, and is not shown
            said = shlex.join([words[0], "--", program, option])
            raise ConfigError(
                f"Whose option is {option}, which stands after the program {program}: Naru's or the program's?",
                remedy=f"Say where the program begins: naru servers add {said} …; Naru's own stand before `--`.",
            )
        elif word in with_value:
            next(left, None)
