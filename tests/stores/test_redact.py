"""No secret is ever shown: S-34, S-36, f21, h13."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from naru.stores.secrets.redact import (
    RedactingFilter,
    Redactor,
    mask,
    masked_config,
    one_line,
    unmasked_config,
)
from naru.stores.secrets.values import secrets_of

CONFIG = {
    "command": "npx",
    "args": [
        "-y",
        "server",
        "--token=SENTINEL-A1",
        "--api-key",
        "SENTINEL-A2",
        "--header",
        "X-Api-Key: SENTINEL-A3",
        "API_TOKEN=SENTINEL-A4",
        "postgresql://u:SENTINEL-A5@h/db",
        "sk-SENTINELxxxxxxxxxxxxx",
        "--name",
        "plain",
    ],
    "env": {"TOKEN": "SENTINEL-E1", "PLACEHOLDER": "${TOKEN}", "EMPTY": ""},
    "url": "http://u:SENTINEL-U1@h/mcp?api_key=SENTINEL-U2&page=3",
    "headers": {"Authorization": "Bearer SENTINEL-H1", "X-Api-Key": "SENTINEL-H2", "Accept": "text/event-stream"},
    "oauth": {"clientSecret": "SENTINEL-O1", "scope": "read"},
    "timeout": 30_000,
}


def test_f21_h07_no_secret_of_a_config_is_shown() -> None:
    shown = masked_config(CONFIG)
    assert "SENTINEL" not in str(shown)
    assert shown["args"][:2] == ["-y", "server"]
    assert shown["args"][-1] == "plain"
    assert shown["env"]["PLACEHOLDER"] == "${TOKEN}"
    assert shown["url"].endswith("&page=3")
    assert shown["headers"]["Accept"] == "text/event-stream"
    assert shown["timeout"] == 30_000


def test_s34_a_mask_that_comes_back_keeps_the_secret() -> None:
    assert unmasked_config(masked_config(CONFIG), CONFIG) == CONFIG
    changed = masked_config(CONFIG) | {"env": {"TOKEN": masked_config(CONFIG)["env"]["TOKEN"], "NEW": "value"}}
    assert unmasked_config(changed, CONFIG)["env"] == {"TOKEN": "SENTINEL-E1", "NEW": "value"}


@pytest.mark.parametrize("field", ["env", "headers"])
def test_s34_a_mask_that_stands_for_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=rf"config\.{field}\.OTHER is a mask"):
        unmasked_config({field: {"OTHER": mask("SENTINEL-E1")}}, CONFIG)


def test_a_mask_shows_its_length_and_only_a_long_one_its_tail() -> None:
    assert mask("short-secret") == "•••• (12 chars)"
    assert mask("x" * 69 + "59") == "••••59 (71 chars)"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SENTINEL-T1",
        "{'authorization': 'Bearer SENTINEL-T1', 'accept': '*/*'}",
        'headers={"x-api-key": "SENTINEL-T1"}',
        "HTTP Request: POST http://h/mcp?api_key=SENTINEL-T1 200",
        "cannot connect to postgresql://user:SENTINEL-T1@host/db",
        "http://SENTINEL-T1@h/",
        "password=SENTINEL-T1;",
        "(password: SENTINEL-T1) password=ab)SENTINEL-T1",
        "access_token: SENTINEL-T1",
        "Proxy-Authorization: Basic SENTINEL-T1",
        "set-cookie: SENTINEL-T1",
        "sk-SENTINEL-T1xxxxxxxx",
        'Authorization: Digest username="a", response="SENTINEL-T1"',
        "Authorization: AWS4-HMAC-SHA256 Credential=SENTINEL-T1/us, Signature=SENTINEL-T1",
        "Authorization: ApiKey SENTINEL-T1",
        "Authorization: SENTINEL-T1",
        "Proxy-Authorization: Negotiate SENTINEL-T1",
        "Cookie: sid=SENTINEL-T1; other=SENTINEL-T1",
        'headers: {"Cookie": "a=SENTINEL-T1; b=SENTINEL-T1"}',
        "[(b'authorization', b'Bearer SENTINEL-T1'), ('x-api-key', 'SENTINEL-T1')]",
        r'body: "{\"token\": \"SENTINEL-T1\"}"',
        'secret: "SENTINEL-T1 and SENTINEL-T1"',
        "AWS_SECRET_ACCESS_KEY=SENTINEL-T1",
        "MY_PASS=SENTINEL-T1 PGPASSWORD=SENTINEL-T1 OTHER_PWD=SENTINEL-T1",
        "Ocp-Apim-Subscription-Key: SENTINEL-T1",
        "private_key: SENTINEL-T1, passphrase=SENTINEL-T1",
        "npx server --api-key SENTINEL-T1 --auth-token SENTINEL-T1",
        "Mcp-Session-Id: SENTINEL-T1",
        "GET /callback?code=SENTINEL-T1&state=x",
        "https://h/#access_token=SENTINEL-T1",
        "postgresql://u:p@SENTINEL-T1@h/db",
        "eyJhbGciOiJIUzI1NiJ9.eyJTRU5USU5FTCI6MX0.SENTINEL-T1",
        "github_pat_SENTINELxxxxxxxxxxxxxxxxxxx",
        "glpat-SENTINELxxxxxxxxxxxx",
        "hf_SENTINELxxxxxxxxxxxxxxxx",
        "sk_live_SENTINELxxxxxx",
        "AKIASENTINELXXXXXXXX",
        "-----BEGIN RSA PRIVATE KEY-----\nSENTINEL\nT1=\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_removed_from_free_text(text: str) -> None:
    assert "SENTINEL" not in Redactor().clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "the token count is 12",
        "max_tokens: 4096",
        "token: Extra inputs are not permitted.",
        "api_key: Field required",
        "password=None",
        "Access denied for user 'reader'@'localhost' (using password: YES) (1045)",
        "Basic understanding",
        "option --token is wrong",
        "status code=404",
        "a bearer of news",
        "author: Kim",
        "GET /v1/models?page=2",
        "key: value",
        "한글 본문",
        '"Authorization": "Bearer ${env:NARU_API_KEY}"',
        '"Authorization": "Bearer ${input:naru-key}"',
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor().clean(text) == text


@pytest.mark.parametrize(
    "shown",
    [
        "U0VOVElORUwvLTErKw",
        "SENTINEL%2F-1%2B%2B",
        "SENTINEL/-1%2B%2B",
        'say "SENTINEL/-1++"',
    ],
    ids=["base64", "query", "path", "as it is"],
)
def test_a_known_secret_is_found_in_the_forms_that_it_is_sent_in(shown: str) -> None:
    cleaned = Redactor(["SENTINEL/-1++"]).clean(f"sent {shown}.")
    assert "SENTINEL" not in cleaned
    assert "U0VO" not in cleaned


def test_a_known_secret_with_quotes_is_found_in_json_and_python() -> None:
    secret = 'a"b\\c\nd1'
    redactor = Redactor([secret])
    for text in (json.dumps({"x": secret}), repr([secret])):
        assert "d1" not in redactor.clean(text)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("${TOKEN}", "${TOKEN}"),
        ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
        ("${env:HOST}:80", "${env:HOST}:80"),
        ("Bearer SENTINEL-1 ${TOKEN}", "Bearer ••••${TOKEN}"),
        ("${TOKEN:-SENTINEL-1}", "${TOKEN:-••••}"),
        ("${REGION:-eu}", "${REGION:-eu}"),
        ("${A}SENTINEL-1${B:+SENTINEL-2}", "${A}••••${B:+••••}"),
        ("${A:?get one at the desk}", "${A:?get one at the desk}"),
    ],
)
def test_what_stands_beside_a_placeholder_or_as_its_default_is_masked(written: str, shown: str) -> None:
    config = {"env": {"X": written}, "headers": {"X": written}}
    masked = masked_config(config)
    assert masked == {"env": {"X": shown}, "headers": {"X": shown}}
    assert unmasked_config(masked, config) == config


def test_known_secrets_are_removed_wherever_they_stand() -> None:
    redactor = Redactor(secrets_of(CONFIG))
    for secret in ("SENTINEL-E1", "SENTINEL-H1", "SENTINEL-A2", "SENTINEL-U1", "SENTINEL-U2"):
        assert redactor.clean(f"upstream said: bad {secret}!") == "upstream said: bad ••••!"


RANDOM = "3f2a9b1c8d7e-6a5b4c3d2e1f"


@pytest.mark.parametrize("written", ["{there}", "--root={there}", "{there}/gone/x.db", "sqlite:///{there}", "~/{name}"])
def test_s34_a_path_on_this_machine_is_no_secret_whatever_its_folders_are_called(written: str, tmp_path: Path) -> None:
    """A server that is given a folder tells paths in it, which the next call has to name."""
    there = tmp_path / RANDOM
    argument = written.format(there=there, name=RANDOM)
    config = {"command": str(there), "args": [argument], "cwd": str(there), "env": {"ROOT": argument}}
    assert secrets_of(config) == set()


@pytest.mark.parametrize(
    "written",
    [f"/{RANDOM}/x", f"/{RANDOM * 20}", f"https://example.com/{RANDOM}", RANDOM, f"--root={RANDOM}"],
    ids="path,long,address,word,option".split(","),
)
def test_s34_what_is_random_and_no_path_on_this_machine_is_a_secret(written: str) -> None:
    assert any(RANDOM in secret for secret in secrets_of({"args": [written]}))


def test_every_log_line_is_cleaned_with_arguments_and_traceback(caplog: pytest.LogCaptureFixture) -> None:
    redactor = Redactor(["SENTINEL-L1"])
    handler = caplog.handler
    chosen = RedactingFilter(redactor)
    handler.addFilter(chosen)
    try:
        log = logging.getLogger("httpx")
        log.setLevel(logging.DEBUG)
        log.debug("sending %s to %s", {"authorization": "Bearer SENTINEL-L2"}, "http://u:SENTINEL-L3@h/")
        try:
            raise ValueError("bad SENTINEL-L1")
        except ValueError:
            log.exception("failed with SENTINEL-L1")
    finally:
        handler.removeFilter(chosen)
    assert "SENTINEL" not in caplog.text
    assert "ValueError: bad" in caplog.text


def test_s36_a_name_cannot_forge_a_log_line() -> None:
    assert one_line("a\nINFO forged\x1b[2J\u2028x") == r"a\u000aINFO forged\u001b[2J\u2028x"


UNITS = [
    *("token=", "http://", "a:b@", "?key=", "bearer ", "authorization: "),
    *("://a.", "--a-", "cookie:", 'secret:"', "eyJ-.", "code="),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.timeout(60)
@pytest.mark.slow
def test_cleaning_is_linear(unit: str) -> None:
    """A megabyte takes a fraction of a second; what grows with its square would take hours."""
    assert Redactor().clean(unit * (2**20 // len(unit)))
