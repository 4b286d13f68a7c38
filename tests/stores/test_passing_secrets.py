"""Tokens that follow each other are hidden, and cost no more with each renewal (S-34, R-11)."""

from __future__ import annotations

import json
import secrets

from naru.stores.secrets.redact import Redactor
from naru.stores.secrets.text import MASK
from naru.stores.secrets.values import SecretValues


def test_s34_the_last_tokens_of_a_sign_in_are_hidden_and_those_before_are_let_go() -> None:
    known = SecretValues(["a lasting secret, 42"])
    tokens = [f"opaque-{secrets.token_urlsafe(24)}" for _ in range(6)]
    for token in tokens:
        known.learn_passing(token)
        assert token not in known.text(f"refused: {token}.")
    assert "a lasting secret, 42" not in known.text("it is a lasting secret, 42")
    assert tokens[-2] not in known.text(tokens[-2]), "calls under way still have it"
    assert known.text(tokens[0]) == tokens[0]
    raw = json.dumps({"said": tokens[-1]}).encode()
    assert known.data(raw, json.loads(raw)) == {"said": MASK}


def test_s34_what_a_place_for_passing_values_holds_is_hidden_while_it_is_held() -> None:
    redactor = Redactor()
    place = redactor.passing()
    place.learn_passing("word-that-nobody-else-takes-for-a-secret")
    assert MASK in redactor.clean("it said word-that-nobody-else-takes-for-a-secret.")
    del place
    assert MASK not in redactor.clean("it said word-that-nobody-else-takes-for-a-secret.")


def test_nothing_is_made_of_secrets_before_they_are_looked_for() -> None:
    known = SecretValues()
    for _ in range(2000):
        known.learn([secrets.token_urlsafe(24)])
    assert known._made is None, "or each renewal of a token costs as much as all those before"
