"""Issue 14, 9: who is small is told by the endpoint, by the person, and by the name only as the last word."""

from __future__ import annotations

from typing import Literal

import pytest

from naru.config import AgentSettings
from naru.models.known import size
from naru.models.known.families import profile_for
from naru.models.known.knowledge import Findings, Knowledge, Said
from naru.models.known.profile import Profile
from naru.models.open import _wants_help


@pytest.mark.parametrize(
    ("model", "is_small"),
    [
        ("falcon-180b", False),
        ("qwen2:0.5b", True),
        ("tinyllama", True),
        ("llama3.2", False),
        ("llama3.2:1b", True),
        ("qwen2.5:3b", False),
        ("gemma3:270m", True),
        ("qwen3-30b-a3b", False),
        ("zephyr", False),
        ("gpt-4o", False),
        ("claude-sonnet-4-5[1m]", False),
        ("some/qwen2.5-7b-instruct-1m", False),
        ("deepseek-r1:1.5b", True),
        ("exaone-3.5-2.4b-instruct", True),
        ("mixtral-8x7b", False),
        ("Meta-Llama-3.1-405B-Instruct", False),
        ("smollm2:135m", True),
        ("granite3.3:2b", True),
        ("command-r7b", False),
    ],
)
def test_a_name_tells_the_size_where_nothing_else_does(model: str, is_small: bool) -> None:
    assert profile_for(model).small is is_small


@pytest.mark.parametrize("model", [f"m:{'9' * 400}b", "\u0663" * 50_000])
def test_a_name_that_no_model_has_tells_no_size(model: str) -> None:
    assert size.of_name(model) == size.of_ollama({"details": {"parameter_size": model[2:]}}) == 0


def test_endpoints_tell_the_size() -> None:
    listed = {"data": [{"id": "mine", "meta": {"n_params": 494_032_768}}, {"id": "other"}]}
    assert size.of_listed(listed, "mine") == 494_032_768
    assert size.of_listed(listed, "other") == 0
    assert size.of_listed({"error": "none"}, "mine") == 0
    assert size.of_ollama({"details": {"parameter_size": "3.2B"}}) == 3_200_000_000
    assert size.of_ollama({"model_info": {"general.parameter_count": 1_235_814_400}}) == 1_235_814_400
    assert size.of_ollama({"details": None}) == 0


@pytest.mark.parametrize(("parameters", "is_small"), [(1_235_814_400, True), (3_212_749_888, False), (0, False)])
async def test_what_the_endpoint_says_goes_before_the_name(parameters: int, is_small: bool) -> None:
    async def said() -> Said:
        return Said(4096, parameters)

    knowledge = Knowledge()
    await knowledge.ask("assistant", said)
    profile = knowledge.of("assistant").profile
    assert (profile.small, profile.context_tokens) == (is_small, 4096)


async def test_a_probe_and_the_person_go_before_the_endpoint() -> None:
    async def said() -> Said:
        return Said(0, 500_000_000)

    findings = Findings()
    findings.keep("here", "measured", Profile(small=False))
    measured = Knowledge(endpoint="here", findings=findings)
    settings = AgentSettings(small="on", small_models={"big*": "off", "tiny": "auto"})
    wanted = Knowledge(small=_wants_help(settings))
    for knowledge, model in ((measured, "measured"), (wanted, "big-one"), (wanted, "any-70b"), (wanted, "tiny")):
        await knowledge.ask(model, said)
    assert not measured.of("measured").profile.small
    assert not wanted.of("big-one").profile.small
    assert wanted.of("any-70b").profile.small
    assert wanted.of("tiny").profile.small, "auto goes by its size"


@pytest.mark.parametrize(("asked", "is_small"), [("auto", False), ("on", True)])
async def test_who_wants_the_endpoints_own_tools_alone_gets_no_help_unless_asked_for(
    asked: Literal["auto", "on"], is_small: bool
) -> None:
    async def said() -> Said:
        return Said(0, 500_000_000)

    wants = _wants_help(AgentSettings(small=asked))
    knowledge = Knowledge(default_model="qwen2:0.5b", given={"strategy": "native"}, small=wants)
    assert knowledge.of("").profile.small is is_small
    await knowledge.ask("", said)
    assert knowledge.of("").profile.small is is_small
