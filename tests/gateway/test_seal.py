"""State that a client carries for us is good for one caller, one request and a while (S-58)."""

from __future__ import annotations

import pytest

from naru.gateway.wire.protocol import RpcError
from naru.gateway.wire.seal import Sealer, binding_of
from naru.gateway.wire.tasks import TaskIds

BINDING = binding_of("tools/call", {"name": "a", "arguments": {"x": 1}})


def test_a_sealed_payload_comes_back_to_its_caller() -> None:
    sealer = Sealer()
    token = sealer.seal({"server": "a", "state": "s"}, caller="ann", binding=BINDING)
    assert sealer.open(token, caller="ann", binding=BINDING) == {"server": "a", "state": "s"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t + "-TAMPERED",
        lambda t: t[:-1],
        lambda t: ("B" if t[0] == "A" else "A") + t[1:],
        lambda t: "",
        lambda t: "é",
    ],
)
def test_a_changed_token_is_refused(spoil: object) -> None:
    sealer = Sealer()
    token = sealer.seal({"n": 1}, caller="ann", binding=BINDING)
    with pytest.raises(RpcError) as caught:
        sealer.open(spoil(token), caller="ann", binding=BINDING)  # type: ignore[operator]
    assert caught.value.code == -32602


def test_a_token_is_no_good_for_another_caller_request_key_or_time() -> None:
    now = [1000.0]
    sealer = Sealer(ttl_seconds=10, clock=lambda: now[0])
    token = sealer.seal({"n": 1}, caller="ann", binding=BINDING)
    other = binding_of("tools/call", {"name": "a", "arguments": {"x": 2}})
    for caller, binding, opener in (("bob", BINDING, sealer), ("ann", other, sealer), ("ann", BINDING, Sealer())):
        with pytest.raises(RpcError):
            opener.open(token, caller=caller, binding=binding)
    now[0] += 11
    with pytest.raises(RpcError):
        sealer.open(token, caller="ann", binding=BINDING)


def test_a_task_id_leads_back_to_its_server_for_its_caller_only() -> None:
    tasks = TaskIds(Sealer())
    sealed = tasks.seal("a.b", "1.2/3", "ann")
    strange = [("a:é", "ann"), ("\ud800:AAAA", "ann")]
    assert tasks.open(sealed, "ann") == ("a.b", "1.2/3")
    for task_id, caller in ((sealed, "bob"), (sealed + "x", "ann"), ("a.b", "ann"), (None, "ann"), *strange):
        with pytest.raises(RpcError) as caught:
            tasks.open(task_id, caller)
        assert caught.value.code == -32602
