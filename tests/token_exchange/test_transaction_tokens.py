"""Transaction tokens say what a call chain is about (draft-ietf-oauth-transaction-tokens)."""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import UUID

import pytest

from service.events.tokens import TransactionTokenIssued
from tests.clients.signing import key_of
from tests.conftest import Clock, Start
from tests.driving.registry import client_in, hashed
from tests.driving.service import Answer, RunningService, claims_in, header_of
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.token_exchange.exchanging import EXCHANGE, TYPE, exchange

SHOP = "https://shop.example"
INVALID_REQUEST = (400, "invalid_request")
DETAILS = {"cart_id": "c1", "amount": {"value": 12.5}, "colour": "red"}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`gateway` asks, `api1` to `w5` replace; `signer` and `claimant` begin transactions themselves."""
    del config["token_exchange"]
    gateway = client_in(config, "gateway")
    gateway["allowed_grant_types"] = [EXCHANGE]
    names = ["signer", "claimant", "w2", "w3", "w4", "w5", "w6"]
    for name in names:
        secret = {"client_secrets": [{"sha256": hashed(name)}]}
        config["clients"].append(gateway | secret | {"client_id": name})
    client_in(config, "signer")["jwks"] = {"keys": [key_of("ES256").public_jwk]}
    shop = {
        "name": SHOP,
        "clients": ["gateway", "signer"],
        "scopes": ["checkout", "refund", "read"],
        "transaction_context": {"checkout": ["cart_id", "amount"], "refund": ["order"]},
        "replacement": ["api1", *names[2:]],
        "max_context_bytes": 200,
    }
    started = {"clients": ["signer"], "subject_token_types": ["self_signed"]}
    claimed = {"clients": ["claimant"], "subject_token_types": ["unsigned_json"]}
    config["trust_domains"] = [
        shop,
        shop | started | {"name": "signed.example"},
        shop | claimed | {"name": "claimed.example"},
    ]
    return config


@pytest.fixture
async def token(service: RunningService) -> str:
    """A token of alice's for api1."""
    return str((await service.user_token())["access_token"])


async def ask(
    service: RunningService, token: str | None, client: str = "gateway", **form: Any
) -> Answer:
    """Ask for a transaction token; objects are sent as JSON."""
    asked = {"audience": SHOP, "scope": "checkout", "requested_token_type": "txn_token"} | form
    for name in ("request_details", "request_context"):
        if isinstance(asked.get(name), dict):
            asked[name] = json.dumps(asked[name])
    return await exchange(service, token, client, **asked)


async def test_a_transaction_token_says_what_the_call_chain_is_about(
    service: RunningService, token: str
) -> None:
    context = {"req_ip": "192.0.2.1", "authn": "pwd"}
    answer = await ask(service, token, request_details=DETAILS, request_context=context)
    assert (answer["token_type"], answer["issued_token_type"]) == ("N_A", TYPE + "txn_token")
    assert "refresh_token" not in answer.json
    assert header_of(answer["access_token"])["typ"] == "txntoken+jwt"
    claims = claims_in(answer["access_token"])
    assert UUID(claims.pop("txn")).version == 4
    assert claims.pop("exp") - claims.pop("iat") == answer["expires_in"] == 30
    assert claims == {
        "iss": service.issuer,
        "aud": SHOP,
        "sub": "818727",
        "scope": "checkout",
        "req_wl": "gateway",
        "tctx": {"cart_id": "c1", "amount": {"value": 12.5}},
        "rctx": context,
    }


async def test_it_lasts_as_long_as_the_answer_says_though_a_second_passes(
    service: RunningService, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.tokens.exchanged.clock", lambda: int(time.time()) + 1)
    answer = await ask(service, token)
    claims = claims_in(answer["access_token"])
    assert claims["exp"] - claims["iat"] == answer["expires_in"]


async def test_absent_contexts_are_absent(service: RunningService, token: str) -> None:
    claims = claims_in((await ask(service, token, scope="read"))["access_token"])
    assert not {"tctx", "rctx"} & claims.keys()


async def test_a_token_of_a_client_itself_begins_a_transaction(service: RunningService) -> None:
    machine = await service.token("machine", grant_type="client_credentials", scope="api1")
    claims = claims_in((await ask(service, machine["access_token"]))["access_token"])
    assert claims["sub"] == "machine"


async def test_claims_of_a_trusted_issuer_decide_who_may_use_the_client_that_asks(
    start: Start, config: dict[str, Any]
) -> None:
    config["trusted_issuers"] = [partner_entry(claims={"team": "team"})]
    config["clients"].append(presenter_entry("courier", hashed("courier")))
    client_in(config, "gateway")["allowed_users"] = [{"team": ["blue"]}]
    service = await start(config)
    for team, refusal in (("blue", (200, None)), ("red", (400, "invalid_grant"))):
        assertion = await Partner(service).assertion(team=team)
        source = await Partner(service).present(assertion, scope="api1")
        assert (await ask(service, source["access_token"])).refusal == refusal


async def test_claims_of_the_user_store_decide_where_the_issuer_names_its_users(
    start: Start, config: dict[str, Any]
) -> None:
    config["trusted_issuers"] = [partner_entry(subject="{sub}", existing_user=True)]
    config["clients"].append(presenter_entry("courier", hashed("courier")))
    client_in(config, "gateway")["allowed_users"] = [{"name": ["Alice Smith"]}]
    service = await start(config)
    for sub, refusal in (("818727", (200, None)), ("88421113", (400, "invalid_grant"))):
        assertion = await Partner(service).assertion(sub=sub)
        source = await Partner(service).present(assertion, scope="api1")
        assert (await ask(service, source["access_token"])).refusal == refusal


async def test_a_transaction_token_gives_access_to_nothing(
    service: RunningService, token: str
) -> None:
    made = (await ask(service, token))["access_token"]
    assert not await service.is_active(made)
    header = {"Authorization": f"Bearer {made}"}
    assert (await service.get("/connect/userinfo", headers=header)).status == 401


async def test_a_transaction_token_lives_no_longer_than_its_source(
    service: RunningService, token: str, clock: Clock
) -> None:
    clock.forward(minutes=59, seconds=50)
    made = (await ask(service, token))["access_token"]
    assert claims_in(made)["exp"] == claims_in(token)["exp"]


async def test_issuing_is_in_the_audit_log(service: RunningService, token: str) -> None:
    claims = claims_in((await ask(service, token))["access_token"])
    (issued,) = [one for one in service.events if isinstance(one, TransactionTokenIssued)]
    assert (issued.txn, issued.subject, issued.client_id) == (claims["txn"], "818727", "gateway")


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"audience": None}, "invalid_request"),
        ({"audience": None, "resource": SHOP}, "invalid_request"),
        ({"audience": "https://other.example"}, "invalid_target"),
        ({"audience": [SHOP, "signed.example"]}, "invalid_target"),
        ({"audience": "signed.example"}, "invalid_target"),
        ({"resource": "api1"}, "invalid_target"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": "checkout api1"}, "invalid_scope"),
        ({"request_details": "[]"}, "invalid_request"),
        ({"request_details": "{"}, "invalid_request"),
        ({"request_context": '"text"'}, "invalid_request"),
        ({"request_details": json.dumps({"cart_id": "c" * 200})}, "invalid_request"),
        ({"request_context": '{"a":' * 90 + "1" + "}" * 90}, "invalid_request"),
        ({"request_details": '{"a":' + "[" * 90 + "]" * 90 + "}"}, "invalid_request"),
        ({"request_details": '{"cart_id": "c1", "cart_id": "c2"}'}, "invalid_request"),
        ({"request_details": '{"amount": 1e400}'}, "invalid_request"),
        ({"request_details": '{"amount": 0.1000000000000000055}'}, "invalid_request"),
        ({"of_type": "id_token"}, "invalid_request"),
        ({"of_type": "refresh_token"}, "invalid_request"),
        ({"of_type": "unsigned_json"}, "invalid_request"),
        ({"of_type": "txn_token"}, "invalid_target"),
        ({"actor_token": "x", "actor_token_type": TYPE + "access_token"}, "invalid_request"),
    ],
    ids=str,
)
async def test_what_the_domain_does_not_allow_is_refused(
    service: RunningService, token: str, form: dict[str, Any], error: str
) -> None:
    assert (await ask(service, token, **form)).refusal == (400, error)


@pytest.mark.parametrize(("size", "outcome"), [(200, (200, None)), (201, (400, "invalid_request"))])
async def test_a_context_has_as_many_bytes_as_the_domain_allows(
    service: RunningService, token: str, size: int, outcome: tuple[int, str | None]
) -> None:
    text = '{"req_ip":"' + "x" * (size - 13) + '"}'
    answer = await ask(service, token, request_context=text)
    assert (answer.status, answer.json.get("error")) == outcome


@pytest.mark.parametrize("name", ["request_details", "request_context"])
async def test_json_that_is_nested_a_thousand_deep_is_refused(
    start: Start, config: dict[str, Any], name: str
) -> None:
    config["trust_domains"][0]["max_context_bytes"] = 8000
    service = await start(config)
    token = str((await service.user_token())["access_token"])
    deep = '{"a":' + "[" * 999 + "]" * 999 + "}"
    assert (await ask(service, token, **{name: deep})).refusal == INVALID_REQUEST


async def test_a_client_that_the_domain_does_not_name_is_refused(
    service: RunningService, token: str
) -> None:
    assert (await ask(service, token, "w2")).refusal == (400, "invalid_target")


async def test_a_source_that_is_revoked_is_refused(service: RunningService, token: str) -> None:
    await service.post("/connect/revocation", auth="frontend", token=token)
    assert (await ask(service, token)).refusal == INVALID_REQUEST
    made = (await ask(service, "nonsense")).refusal
    assert made == INVALID_REQUEST


async def test_an_api_starts_with_tokens_for_itself_only(
    config: dict[str, Any], start: Start
) -> None:
    client_in(config, "gateway")["api_resource"] = "api2"
    service = await start(config)
    token = (await service.user_token())["access_token"]
    assert (await ask(service, token)).refusal == INVALID_REQUEST


@pytest.mark.parametrize("name", ["request_context", "request_details"])
@pytest.mark.parametrize("place", ["member", "name", "within a text", "escaped", "deep"])
async def test_a_context_that_contains_the_source_token_is_refused(
    service: RunningService, name: str, place: str
) -> None:
    reference = (await service.user_token("opaque"))["access_token"]
    escaped = f"\\u{ord(reference[0]):04x}{reference[1:]}"
    texts = {
        "member": json.dumps({"cart_id": reference}),
        "name": json.dumps({reference: 1}),
        "within a text": json.dumps({"authorization": f"Bearer {reference}"}),
        "escaped": f'{{"a": "{escaped}"}}',
        "deep": json.dumps({"a": [{"b": [reference]}]}),
    }
    refused = await ask(service, reference, **{name: texts[place]})
    assert refused.refusal == INVALID_REQUEST
    assert "contains" in refused["error_description"]


class TestReplacement:
    """A transaction token is replaced by one that says more, or is for less."""

    async def test_txn_sub_and_aud_stay_and_workloads_are_added(
        self, service: RunningService, token: str
    ) -> None:
        sent: dict[str, Any] = {
            "request_details": {"cart_id": "c1"},
            "request_context": {"req_ip": "192.0.2.1"},
        }
        first = (await ask(service, token, scope="checkout read", **sent))["access_token"]
        more: dict[str, Any] = {"request_details": {"amount": 3}, "request_context": {"zone": "eu"}}
        second = await ask(service, first, "w2", of_type="txn_token", **more)
        before, after = claims_in(first), claims_in(second["access_token"])
        for name in ("txn", "sub", "aud", "iss"):
            assert after[name] == before[name]
        assert after["exp"] <= before["exp"]
        assert (after["req_wl"], after["scope"]) == ("gateway,w2", "checkout")
        assert after["tctx"] == {"cart_id": "c1", "amount": 3}
        assert after["rctx"] == {"req_ip": "192.0.2.1", "zone": "eu"}

    async def test_scope_never_grows(self, service: RunningService, token: str) -> None:
        first = (await ask(service, token))["access_token"]
        answer = await ask(service, first, "w2", of_type="txn_token", scope="checkout refund")
        assert answer.refusal == (400, "invalid_scope")

    @pytest.mark.parametrize("name", ["request_details", "request_context"])
    async def test_what_was_asserted_cannot_be_changed(
        self, service: RunningService, token: str, name: str
    ) -> None:
        said: dict[str, Any] = {name: {"cart_id": "c1"}}
        first = (await ask(service, token, **said))["access_token"]
        changed: dict[str, Any] = {name: {"cart_id": "c2"}}
        answer = await ask(service, first, "w2", of_type="txn_token", **changed)
        assert answer.refusal == INVALID_REQUEST
        assert (await ask(service, first, "w2", of_type="txn_token", **said)).status == 200

    @pytest.mark.parametrize(
        ("said", "changed"), [(1, True), ([{"b": 0}], [{"b": False}])], ids=["whole", "deep"]
    )
    async def test_a_number_that_was_asserted_does_not_become_true_or_false(
        self, service: RunningService, token: str, said: object, changed: object
    ) -> None:
        first = (await ask(service, token, request_context={"a": said}))["access_token"]
        answer = await ask(
            service, first, "w2", of_type="txn_token", request_context={"a": changed}
        )
        assert answer.refusal == INVALID_REQUEST

    async def test_five_workloads_are_the_most(self, service: RunningService, token: str) -> None:
        made = (await ask(service, token))["access_token"]
        for name in ("w2", "w3", "w4", "w5"):
            made = (await ask(service, made, name, of_type="txn_token"))["access_token"]
        assert claims_in(made)["req_wl"] == "gateway,w2,w3,w4,w5"
        refused = await ask(service, made, "w6", of_type="txn_token")
        assert refused.refusal == INVALID_REQUEST

    async def test_an_expired_token_is_not_replaced(
        self, service: RunningService, token: str, clock: Clock
    ) -> None:
        first = (await ask(service, token))["access_token"]
        clock.forward(seconds=31)
        assert (await ask(service, first, "w2", of_type="txn_token")).refusal == INVALID_REQUEST

    async def test_contexts_do_not_grow_beyond_their_limit(
        self, service: RunningService, token: str
    ) -> None:
        first = (await ask(service, token, request_context={"a": "x" * 120}))["access_token"]
        more: dict[str, Any] = {"request_context": {"b": "x" * 120}}
        assert (await ask(service, first, "w2", of_type="txn_token", **more)).status == 400

    async def test_a_token_of_another_domain_or_kind_is_not_replaced(
        self, service: RunningService, token: str
    ) -> None:
        first = (await ask(service, token))["access_token"]
        header, payload, signature = first.split(".")
        for text in (token, f"{header}.{payload}.{signature[:-4]}AAAA", "nonsense"):
            assert (await ask(service, text, "w2", of_type="txn_token")).refusal == INVALID_REQUEST
        other = await ask(service, first, "w2", of_type="txn_token", audience="signed.example")
        assert other.refusal == INVALID_REQUEST


class TestSelfSigned:
    """A workload begins a transaction by a JWT of its own."""

    async def sign(self, service: RunningService, **changes: Any) -> str:
        now = int(time.time())
        proper = {"iss": "signer", "sub": "batch-7", "aud": service.issuer, "iat": now}
        claims = proper | {"exp": now + 60} | changes
        present = {name: value for name, value in claims.items() if value is not None}
        return await key_of("ES256").sign(present, typ="JWT")

    async def test_its_subject_is_that_of_the_transaction(self, service: RunningService) -> None:
        sent = {"of_type": "self_signed", "audience": "signed.example"}
        for ours in (service.issuer, [service.issuer], f"{service.issuer}/connect/token"):
            answer = await ask(service, await self.sign(service, aud=ours), "signer", **sent)
            assert claims_in(answer["access_token"])["sub"] == "batch-7"

    @pytest.mark.parametrize(
        "changes",
        [
            {"iss": "gateway"},
            {"aud": "https://elsewhere.example"},
            {"aud": None},
            {"exp": None},
            {"exp": 1},
            {"exp": 2**40},
            {"iat": None},
            {"sub": None},
            {"sub": "s" * 256},
        ],
        ids=str,
    )
    async def test_one_that_does_not_hold_is_refused(
        self, service: RunningService, changes: dict[str, Any]
    ) -> None:
        text = await self.sign(service, **changes)
        sent = {"of_type": "self_signed", "audience": "signed.example"}
        assert (await ask(service, text, "signer", **sent)).refusal == INVALID_REQUEST

    @pytest.mark.parametrize(
        ("seconds", "outcome"), [(600, (200, None)), (601, (400, "invalid_request"))]
    )
    async def test_it_may_live_for_ten_minutes(
        self, service: RunningService, seconds: int, outcome: tuple[int, str | None]
    ) -> None:
        now = int(time.time())
        text = await self.sign(service, iat=now, exp=now + seconds, sub="s" * 255)
        sent = {"of_type": "self_signed", "audience": "signed.example"}
        answer = await ask(service, text, "signer", **sent)
        assert (answer.status, answer.json.get("error")) == outcome

    async def test_a_domain_that_does_not_name_the_type_refuses_it(
        self, service: RunningService
    ) -> None:
        text = await self.sign(service)
        assert (await ask(service, text, "signer", of_type="self_signed")).status == 400


class TestUnsigned:
    """A workload begins a transaction by saying whose it is."""

    @pytest.mark.parametrize("text", ['{"sub":"batch-7","more":1}', '{"sub":"batch-7"}'])
    async def test_its_subject_is_that_of_the_transaction(
        self, service: RunningService, text: str
    ) -> None:
        sent = {"of_type": "unsigned_json", "audience": "claimed.example"}
        answer = await ask(service, text, "claimant", **sent)
        assert claims_in(answer["access_token"])["sub"] == "batch-7"

    @pytest.mark.parametrize("place", ["as a text", "as an object"])
    async def test_a_context_that_contains_it_is_refused(
        self, service: RunningService, place: str
    ) -> None:
        sent: dict[str, Any] = {"of_type": "unsigned_json", "audience": "claimed.example"}
        claim = {"sub": "batch-7"}
        text = json.dumps(claim, separators=(",", ":"))
        context = {"a": [f"it is {text}" if place == "as a text" else claim]}
        refused = await ask(service, text, "claimant", **sent, request_context=context)
        assert refused.refusal == INVALID_REQUEST

    @pytest.mark.parametrize("text", ["{}", "[]", '{"sub":7}', '{"sub":""}', "x"])
    async def test_one_without_a_subject_is_refused(
        self, service: RunningService, text: str
    ) -> None:
        sent = {"of_type": "unsigned_json", "audience": "claimed.example"}
        assert (await ask(service, text, "claimant", **sent)).refusal == INVALID_REQUEST
