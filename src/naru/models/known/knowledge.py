"""What is known of each model on each endpoint: the family's row, and over it what a request or refusal taught.

`naru probe` writes its findings to a JSON file; here they are laid over the rows. One object serves one endpoint.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from naru.deadlines import bound
from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.known.adapt import Learned
from naru.models.known.families import profile_for
from naru.models.known.profile import Profile
from naru.models.known.size import SMALL_BELOW
from naru.records import now_ms
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.unusable import unusable

logger = logging.getLogger(__name__)
_ASK_SECONDS = 5.0
_ASK_AGAIN_SECONDS = 60.0
_MOST_MODELS = 1_000
_PROBED = "probed"
_MEASURED = (
    "native_tools",
    "system_role",
    "alternation",
    "tool_role",
    "teach",
    "parallel_calls",
    "guided",
    "strategy",
    "small",
    "tool_budget",
    "reasoning",
    "reasoning_needed",
    "images",
)


@dataclass(frozen=True, slots=True)
class Said:
    """What an endpoint says of a model; 0 is nothing."""

    context_tokens: int = 0
    parameters: int = 0
    schema_form: str = ""
    """The form of tool schemas that the engine takes; empty: the wire's own."""
    sees: bool | None = None
    """Whether it takes pictures; None is nothing."""


class Findings:
    """The file with what probes measured: `endpoint model` → fields of the profile."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path.expanduser() if path is not None else None
        self._rows = self._read()

    def apply(self, endpoint: str, model: str, profile: Profile) -> Profile:
        """Return the profile with what was measured in place of what is known of the family."""
        known = {one.name for one in fields(Profile)}
        measured = {name: value for name, value in self._rows.get(_key(endpoint, model), {}).items() if name in known}
        return replace(profile, **measured) if measured else profile

    def holds(self, endpoint: str, model: str) -> bool:
        """Tell whether a model was measured."""
        return _key(endpoint, model) in self._rows

    def probed(self, endpoint: str, model: str) -> JsonObject | None:
        """Return what a probe said when it measured a model: `at` (epoch milliseconds) and its `checks`; or None."""
        told = self._rows.get(_key(endpoint, model), {}).get(_PROBED)
        return told if isinstance(told, dict) else None

    def keep(self, endpoint: str, model: str, profile: Profile, checks: Sequence[JsonObject] = ()) -> None:
        """Save what was measured, in one step, beside what others have saved; `checks` are for people. StoreError."""
        row = asdict(profile)
        told = {_PROBED: {"at": now_ms(), "checks": list(checks)}}
        found = {_key(endpoint, model): {name: row[name] for name in _MEASURED} | told}
        if self._path is None:
            self._rows |= found
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with file_lock(self._path):  # a probe takes minutes, in which another may have saved its own
                self._rows = {**self._read(), **found}
                replace_file(self._path, json.dumps(self._rows, ensure_ascii=False, indent=2).encode(), backup=False)
        except OSError as error:
            raise unusable(self._path, error, what="What was measured cannot be kept") from error

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._path is None or not self._path.is_file():
            return {}
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            logger.warning("cannot read %s, going on without measured profiles: %s", self._path, error)
            return {}
        return {key: row for key, row in rows.items() if isinstance(row, dict)} if isinstance(rows, Mapping) else {}


class Knowledge:
    """Profiles of the models of one endpoint."""

    def __init__(
        self,
        fixed: Profile | None = None,
        *,
        default_model: str = "",
        endpoint: str = "",
        findings: Findings | None = None,
        given: Mapping[str, Any] | None = None,
        small: Callable[[str], bool | None] | None = None,
    ) -> None:
        """Take what is given.

        Args:
            fixed: the profile of every model here, such as the local engine's one; None goes by name.
            default_model: the model of requests that name none.
            endpoint: under which name findings are kept.
            findings: what probes measured.
            given: fields of the profile that the user set, above everything; empty and 0 set nothing.
            small: says of a model whether the user wants it helped as a small one; None of it leaves that to its size.
        """
        self._fixed = fixed
        self.default_model = default_model
        self.endpoint = endpoint
        self._findings = findings
        self._given = {name: value for name, value in (given or {}).items() if value}
        self._small = small or (lambda model: None)
        self._learned: OrderedDict[str, Learned] = OrderedDict()
        """The models that were asked for last: clients name them as they like."""
        self._engine_form = ""

    def engine_takes(self, form: str) -> None:
        """Note the form of tool schemas that the engine of all these models takes; empty says nothing."""
        if form and "schema_form" not in self._given:
            self._engine_form = form
            for learned in self._learned.values():
                learned.profile = replace(learned.profile, schema_form=form)

    def of(self, model: str) -> Learned:
        """Return what is known of a model; refusals add to it."""
        name = "" if self._fixed is not None else model or self.default_model
        learned = self._learned.get(name)
        if learned is None:
            learned = self._learned[name] = Learned(self._profile(name))
            if len(self._learned) > _MOST_MODELS:
                self._learned.popitem(last=False)
        else:
            self._learned.move_to_end(name)
        return learned

    def unmeasured(self) -> Knowledge:
        """Return a twin that knows nothing of what was measured, for measuring anew."""
        return Knowledge(
            self._fixed, default_model=self.default_model, endpoint=self.endpoint, given=self._given, small=self._small
        )

    def probed(self, model: str) -> JsonObject | None:
        """Return what the last probe of a model said, or None; see `Findings.probed`."""
        return self._findings.probed(self.endpoint, model or self.default_model) if self._findings else None

    def keep(self, model: str, profile: Profile, checks: Sequence[JsonObject]) -> None:
        """Save what was measured, and go by it from the next request on. Blocks. Raises StoreError."""
        if self._findings is not None:
            self._findings.keep(self.endpoint, model, profile, checks)
        self._learned.pop("" if self._fixed is not None else model, None)

    async def ask(self, model: str, ask: Callable[[], Awaitable[Said]]) -> None:
        """Ask the endpoint once for a model's context, its size and its engine; if it fails, later again."""
        learned = self.of(model)
        async with learned.asking:
            if time.monotonic() < learned.ask_again_at:
                return
            try:
                with bound(_ASK_SECONDS):
                    said = await ask()
            except (NaruError, TimeoutError) as error:
                why = str(error) or "no answer in time"
                logger.info("endpoint %s says nothing of %s: %s", self.endpoint, model, why)
                learned.ask_again_at = time.monotonic() + _ASK_AGAIN_SECONDS
                return
            learned.ask_again_at = math.inf
            learned.said_tokens = said.context_tokens
            if said.context_tokens and "context_tokens" not in self._given:
                learned.profile = replace(learned.profile, context_tokens=said.context_tokens)
            if said.sees is not None:
                learned.profile = replace(learned.profile, sees=said.sees)
            self.engine_takes(said.schema_form)
            name = model or self.default_model
            is_settled = self._wants_help(name) is not None or self._is_measured(name)
            if said.parameters and not is_settled:
                learned.profile = replace(learned.profile, small=said.parameters < SMALL_BELOW)

    def _is_measured(self, name: str) -> bool:
        return self._findings is not None and self._findings.holds(self.endpoint, name)

    def _profile(self, name: str) -> Profile:
        profile = self._fixed if self._fixed is not None else profile_for(name)
        if self._findings is not None:
            profile = self._findings.apply(self.endpoint, name or self.default_model, profile)
        if self._engine_form:
            profile = replace(profile, schema_form=self._engine_form)
        profile = replace(profile, **self._given) if self._given else profile
        wanted = self._wants_help(name or self.default_model)
        return profile if wanted is None else replace(profile, small=wanted)

    def _wants_help(self, name: str) -> bool | None:
        """Return what the user says of help for small models; who wants the endpoint's own `tools` alone wants none."""
        wanted = self._small(name)
        return False if wanted is None and self._given.get("strategy") == "native" else wanted


def _key(endpoint: str, model: str) -> str:
    return f"{endpoint} {model}".strip()
