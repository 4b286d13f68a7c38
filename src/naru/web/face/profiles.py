"""What clients take, as rows: the form of calls they read, and how each is recognised (N3, V11).

A new client is a row. Facts, not branches: nothing else in the chat face knows a client's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal

from naru.config import ChatSettings
from naru.errors import ConfigError
from naru.facts import fact

DialectOut = Literal["openai", "element-xml", "anthropic-xml", "react", "shell"]
Steps = Literal["", "reasoning", "text", "field"]


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """Facts about one client."""

    name: str
    dialect: DialectOut = "openai"
    """The form of calls it reads when it offers `tools`, or when nothing else is known."""
    prompt_dialect: DialectOut | None = None
    """The form it reads when it describes its tools in the prompt and offers none."""
    single_call: bool = False
    """It takes the first call of a turn and loses the others; Naru hands them over one a turn."""
    answers_nothing: bool = True
    """An empty answer is fine; else it is an error for the client and words are put in its place."""
    reasoning: bool = True
    """`reasoning_content` may stand beside the content."""
    extra_fields: bool = True
    """Fields that OpenAI does not have may stand in the answer."""
    steps: Steps = ""
    """How it hears of a run's calls while they run: as thoughts, text, a field `naru` of chunks, or not at all."""
    user_agents: tuple[str, ...] = ()
    """Lower-case words in the User-Agent."""
    titles: tuple[str, ...] = ()
    """Lower-case beginnings of the X-Title header, which several clients send."""
    prompts: tuple[str, ...] = ()
    """Phrases of its system prompt."""


OPENAI = ClientProfile("openai", steps="field")
PROFILES: Mapping[str, ClientProfile] = {
    profile.name: profile
    for profile in (
        OPENAI,
        # Reads index 0 alone, joins names over chunks, drops a call whose arguments are no object.
        # The model's name decides between tool_calls and XML in the text; XML comes without `tools`.
        ClientProfile(
            "void",
            prompt_dialect="element-xml",
            single_call=True,
            answers_nothing=False,
            prompts=("write its name and parameters in one of the XML formats specified above",),
        ),
        ClientProfile("continue", user_agents=("continue/",), titles=("continue",)),
        ClientProfile(
            "cline",
            prompt_dialect="element-xml",
            answers_nothing=False,
            user_agents=("cline/",),
            titles=("cline",),
            prompts=("You are Cline,", "You have access to a set of tools that are executed upon the user's approval"),
        ),
        ClientProfile(
            "roo",
            prompt_dialect="element-xml",
            answers_nothing=False,
            user_agents=("roocode/", "roo-code/"),
            titles=("roo",),
            prompts=("You are Roo,", "Kilo Code, a highly skilled"),
        ),
        ClientProfile(
            "open-webui", steps="reasoning", user_agents=("open webui", "open-webui"), titles=("open webui",)
        ),
        ClientProfile("librechat", steps="reasoning", user_agents=("librechat",), titles=("librechat",)),
        ClientProfile("strict", single_call=False, reasoning=False, extra_fields=False),
        ClientProfile("anthropic-xml", dialect="anthropic-xml"),
        ClientProfile(
            "react",
            dialect="react",
            prompt_dialect="react",
            answers_nothing=False,
            prompts=("Action: the action to take, should be one of [",),
        ),
        ClientProfile("shell", dialect="shell", answers_nothing=False),
    )
}


_BY_PHRASE = tuple((phrase, profile) for profile in PROFILES.values() for phrase in profile.prompts)


@fact()
class Signs:
    """By what a client can be recognised, the surest first."""

    header: str = ""
    """`x-naru-client`."""
    path: str = ""
    """NAME of /clients/NAME/v1/…"""
    key: str = ""
    """The profile that the settings name for the caller's key."""
    user_agent: str = ""
    title: str = ""
    alias: bool = False
    """The model was asked for by Void's alias."""
    prompt: str = ""
    """The system prompt."""


def recognise(signs: Signs, default: str = "openai") -> ClientProfile | None:
    """Return the client's profile; None when it was named and there is no such row."""
    for name in (signs.header, signs.path, signs.key):
        if name:
            return PROFILES.get(name.strip().lower())
    if found := _by_programme(signs.user_agent, signs.title):
        return found
    if signs.alias:
        return PROFILES["void"]
    for phrase, profile in _BY_PHRASE:
        if phrase in signs.prompt:
            return profile
    return PROFILES.get(default.strip().lower(), OPENAI)


def check_profiles(chat: ChatSettings) -> None:
    """Refuse settings that name a profile which there is not. Raises ConfigError."""
    named = {"chat.client": chat.client}
    named |= {f"chat.client_by_key.{key}": name for key, name in chat.client_by_key.items()}
    read = {place: name.strip().lower() for place, name in named.items()}
    for place, name in {**read, **{f"chat.steps.{name}": name for name in chat.steps}}.items():
        if name not in PROFILES:
            near = get_close_matches(name.strip().lower(), PROFILES, n=1)
            raise ConfigError(f"{place}: {no_profile(name)}", remedy=f"Did you mean {near[0]}?" if near else "")


def no_profile(name: str) -> str:
    """Say that nothing is known of a client that was named, and which are known."""
    return f"There is no client profile {name[:60]!r}; there are {', '.join(PROFILES)}."


@lru_cache(maxsize=256)
def _by_programme(user_agent: str, title: str) -> ClientProfile | None:
    agent, title = user_agent.lower(), title.lower()
    for profile in PROFILES.values():
        if any(word in agent for word in profile.user_agents) or title.startswith(profile.titles):
            return profile
    return None
