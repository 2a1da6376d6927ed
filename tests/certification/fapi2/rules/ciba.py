"""Authentication that the user confirms elsewhere, by FAPI-CIBA."""

from __future__ import annotations

import time
from typing import Any

import pytest

from service.protocol.octets import base64url
from tests.certification import identity_token
from tests.certification.fapi2 import ciba, resource
from tests.certification.fapi2.ciba import BACKCHANNEL, begin, pinged, poll, respond, send, signed
from tests.certification.fapi2.client import NO_CERTIFICATE, FapiClient
from tests.certification.fapi2.keys import SigningKey
from tests.certification.relying_party import JWT_BEARER
from tests.driving.service import Answer

INVALID_CLIENT = (401, "invalid_client")
INVALID_REQUEST = (400, "invalid_request")


def mirrors(module: str = "") -> pytest.MarkDecorator:
    """Mark a rule with the module that it is part of, by what follows the common beginning."""
    return pytest.mark.conformance(f"fapi-ciba-id1-{module}" if module else "fapi-ciba-id1")


async def check(client: FapiClient, tokens: Answer) -> None:
    """The checks of the suite on every token response."""
    assert tokens.status == 200, tokens.body
    assert tokens.headers["Cache-Control"] == "no-store"
    assert tokens["token_type"] == "Bearer"
    claims = identity_token.checked(
        tokens["id_token"],
        await client.provider.jwks(),
        client_id=client.client_id,
        nonces=(None,),
        algorithm="ES256",
    )
    assert claims.keys().isdisjoint({"c_hash", "s_hash"})
    assert await resource.admits(client, tokens["access_token"])


class Flows:
    """The experience of a client without mistakes."""

    @mirrors()
    @mirrors("ensure-authorization-request-with-binding-message-succeeds")
    @pytest.mark.rfc("ciba#7.3", "ciba#10.1", "ciba#11")
    async def test_the_user_confirms_and_the_client_gets_tokens(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        for one in (client, second_client):
            auth_req_id = await begin(one)
            pending = await poll(one, auth_req_id)
            assert pending.refusal == (400, "authorization_pending")
            await respond(one, auth_req_id)
            await check(one, await poll(one, auth_req_id))

    @mirrors("user-rejects-authentication")
    @pytest.mark.rfc("ciba#11")
    async def test_a_rejected_request_is_access_denied(self, client: FapiClient) -> None:
        auth_req_id = await begin(client)
        await respond(client, auth_req_id, "deny")
        assert (await poll(client, auth_req_id)).refusal == (400, "access_denied")

    @mirrors("multiple-call-to-token-endpoint")
    @pytest.mark.rfc("ciba#11")
    async def test_a_client_that_polls_all_the_time_is_slowed_down(
        self, client: FapiClient
    ) -> None:
        auth_req_id = await begin(client)
        errors = {(await poll(client, auth_req_id)).error for _ in range(4)}
        assert errors == {"authorization_pending", "slow_down"}

    @mirrors("ensure-other-scope-order-succeeds")
    @mirrors("ensure-requested-expiry-as-string-succeeds")
    @mirrors("ensure-authorization-request-with-potentially-bad-binding-message")
    @pytest.mark.rfc("ciba#7.1", "ciba#7.1.1")
    @pytest.mark.parametrize(
        "changes",
        [
            {"scope": "offline_access email openid"},
            {"requested_expiry": "30"},
            {"requested_expiry": 30},
            {"binding_message": "1234 \U0001f44d\U0001f3ff 品川 Lor"},
        ],
        ids=["scope", "text", "number", "message"],
    )
    async def test_a_request_in_another_form_succeeds(
        self, client: FapiClient, changes: dict[str, Any]
    ) -> None:
        auth_req_id = await begin(client, **changes)
        await respond(client, auth_req_id)
        await check(client, await poll(client, auth_req_id))

    @mirrors("refresh-token")
    @pytest.mark.rfc("6749#6")
    async def test_a_refresh_token_brings_new_tokens_for_its_client_only(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        tokens = await poll(client, auth_req_id)
        foreign = await second_client.refresh(tokens["refresh_token"])
        assert foreign.refusal == (400, "invalid_grant")
        assert (await client.refresh(tokens["refresh_token"])).status == 200

    @mirrors("ensure-wrong-auth-req-id-in-token-endpoint-request")
    @pytest.mark.rfc("ciba#11")
    async def test_another_clients_auth_req_id_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        assert (await poll(second_client, auth_req_id)).refusal == (400, "invalid_grant")
        assert (await poll(client, auth_req_id)).status == 200

    @mirrors("ensure-mtls-holder-of-key-required")
    @pytest.mark.rfc("8705#3")
    async def test_tokens_need_a_certificate(self, client: FapiClient) -> None:
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        assert (await poll(client, auth_req_id, certificate=NO_CERTIFICATE)).status in {400, 401}


class Expiry:
    """The end of a request without an answer."""

    @mirrors("auth-req-id-expired")
    @pytest.mark.rfc("ciba#11")
    async def test_an_expired_request_is_expired_token(
        self, client: FapiClient, clock: Any
    ) -> None:
        auth_req_id = await begin(client, requested_expiry=10)
        clock.forward(seconds=11)
        assert (await poll(client, auth_req_id)).refusal == (400, "expired_token")


class Discovery:
    """The metadata of the provider."""

    @mirrors("discovery-end-point-verification")
    @pytest.mark.rfc("ciba#4")
    async def test_discovery_has_the_metadata_of_ciba(self, client: FapiClient) -> None:
        metadata = client.provider.metadata
        assert metadata[BACKCHANNEL].startswith("https://")
        assert set(metadata["backchannel_token_delivery_modes_supported"]) == {"poll", "ping"}
        assert ciba.CIBA in metadata["grant_types_supported"]
        name = "backchannel_authentication_request_signing_alg_values_supported"
        assert {"PS256", "ES256"} <= set(metadata[name])
        assert isinstance(metadata["backchannel_user_code_parameter_supported"], bool)


class Requests:
    """Requests that are not what they have to be (CIBA §7.1.1, FAPI-CIBA §5.2.2)."""

    @mirrors("ensure-request-object-missing-aud-fails")
    @mirrors("ensure-request-object-bad-aud-fails")
    @mirrors("ensure-request-object-missing-iss-fails")
    @mirrors("ensure-request-object-bad-iss-fails")
    @mirrors("ensure-request-object-missing-exp-fails")
    @mirrors("ensure-request-object-expired-exp-fails")
    @mirrors("ensure-request-object-exp-is-70-minutes-in-future-fails")
    @mirrors("ensure-request-object-missing-iat-fails")
    @mirrors("ensure-request-object-missing-nbf-fails")
    @mirrors("ensure-request-object-nbf-is-10-minutes-in-future-fails")
    @mirrors("ensure-request-object-nbf-is-70-minutes-in-past-fails")
    @mirrors("ensure-request-object-missing-jti-fails")
    @mirrors("ensure-authorization-request-with-multiple-hints-fails")
    @pytest.mark.rfc("ciba#7.1.1", "ciba#13", "fapi-ciba#5.2.2")
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *((name, None) for name in ("aud", "iss", "exp", "iat", "nbf", "jti")),
            ("aud", "https://another.example"),
            ("iss", "another"),
            ("exp", -300),
            ("exp", 4200),
            ("nbf", 600),
            ("nbf", -4200),
            ("id_token_hint", "a.b.c"),
        ],
        ids=str,
    )
    async def test_a_wrong_request_object_is_refused(
        self, client: FapiClient, name: str, value: Any
    ) -> None:
        changed = int(time.time()) + value if isinstance(value, int) else value
        wrong = signed(client, None, **{name: changed})
        answer = await send(client, wrong)
        assert answer.refusal == INVALID_REQUEST

    @mirrors("ensure-request-object-signature-algorithm-is-RS256-fails")
    @mirrors("ensure-request-object-signed-by-other-client-fails")
    @mirrors("ensure-request-object-signature-algorithm-is-none-fails")
    @mirrors("ensure-request-object-signature-algorithm-is-bad-fails")
    @pytest.mark.rfc("ciba#7.1.1", "fapi2#5.4.1")
    async def test_a_wrong_signature_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        right = signed(client)
        weak = signed(client, SigningKey(key=client.key.key, alg="RS256"))
        foreign = signed(client, second_client.key)
        header, claims, _ = right.split(".")
        none = "eyJhbGciOiJub25lIn0"
        for wrong in (weak, foreign, f"{none}.{claims}.", f"{header}.{claims}.AAAA"):
            assert (await send(client, wrong)).refusal == INVALID_REQUEST

    @mirrors("ensure-backchannel-authorization-request-without-request-fails")
    @pytest.mark.rfc("fapi-ciba#5.2.2")
    async def test_an_unsigned_request_is_refused(self, client: FapiClient) -> None:
        form = {"scope": "openid", "login_hint": "alice", "binding_message": "1234"}
        assert (await client.send(BACKCHANNEL, form)).refusal == INVALID_REQUEST


class PrivateKeyJwt:
    """client_auth_type=private_key_jwt."""

    @mirrors("ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds")
    @mirrors("ensure-client-assertion-signature-algorithm-in-token-endpoint-request-is-RS256-fails")
    @mirrors("ensure-without-client-assertion-in-token-endpoint-request")
    @pytest.mark.rfc("7523#3", "fapi2#5.4.1")
    async def test_a_poll_needs_a_right_assertion(self, client: FapiClient) -> None:
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        weak = client.assertion(SigningKey(key=client.key.key, alg="RS256"))
        for wrong in (weak, {"client_id": client.client_id}):
            refused = await poll(client, auth_req_id, credentials=wrong)
            assert refused.refusal == INVALID_CLIENT
        assert (await poll(client, auth_req_id)).status == 200

    @mirrors(
        "ensure-client-assertion-signature-algorithm-in-backchannel-authorization-request-is-RS256-fails"
    )
    @mirrors("ensure-without-client-assertion-in-backchannel-authorization-request")
    @pytest.mark.rfc("7523#3", "ciba#13")
    async def test_a_request_needs_a_right_assertion(self, client: FapiClient) -> None:
        weak = client.assertion(SigningKey(key=client.key.key, alg="RS256"))
        for wrong in (weak, {"client_id": client.client_id}):
            refused = await send(client, signed(client), credentials=wrong)
            assert refused.refusal == INVALID_CLIENT

    @pytest.mark.rfc("7523#3", "7521#4.2", "ciba#13")
    @pytest.mark.parametrize(
        ("claims", "kind"),
        [
            *(({name: None}, None) for name in ("iss", "sub", "aud")),
            *(({name: "another"}, None) for name in ("iss", "sub", "aud")),
            ({"exp": 1_700_000_000}, None),
            ({}, ""),
            ({}, f"{JWT_BEARER}s"),
        ],
        ids=str,
    )
    async def test_a_wrong_assertion_is_refused(
        self, client: FapiClient, claims: dict[str, Any], kind: str | None
    ) -> None:
        wrong = client.assertion(None, **claims)
        if kind is not None:
            wrong["client_assertion_type"] = kind
        refused = await send(client, signed(client), credentials=wrong)
        assert refused.refusal in {INVALID_CLIENT, INVALID_REQUEST}

    @pytest.mark.rfc("7523#3", "8725#3.1")
    async def test_an_assertion_without_a_right_signature_is_refused(
        self, client: FapiClient
    ) -> None:
        right = client.assertion()
        header, claims, _ = right["client_assertion"].split(".")
        none = base64url(b'{"alg":"none"}')
        for text in (f"{none}.{claims}.", f"{header}.{claims}.", f"{header}.{claims}.AAAA"):
            wrong = right | {"client_assertion": text}
            refused = await send(client, signed(client), credentials=wrong)
            assert refused.refusal == INVALID_CLIENT


class Mtls:
    """client_auth_type=mtls."""

    @mirrors("ensure-different-client-id-and-issuer-in-backchannel-authorization-request")
    @mirrors("ensure-wrong-client-id-in-backchannel-authorization-request")
    @mirrors("ensure-wrong-client-id-in-token-endpoint-request")
    @pytest.mark.rfc("8705#2", "ciba#13")
    async def test_another_clients_id_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        other = {"client_id": second_client.client_id}
        refused = await send(client, signed(client), credentials=other)
        assert refused.refusal == INVALID_CLIENT
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        assert (await poll(client, auth_req_id, credentials=other)).refusal == INVALID_CLIENT
        await check(client, await poll(client, auth_req_id))


class Ping:
    """ciba_mode=ping: the user's answer is announced, whatever the client answers to that."""

    @mirrors()
    @mirrors("ping-backchannel-notification-endpoint-response-has-body")
    @mirrors("ping-backchannel-notification-endpoint-response-401")
    @mirrors("ping-backchannel-notification-endpoint-response-403")
    @mirrors(
        "ping-with-mtls-ciba-notification-endpoint-response-401-and-require-server-does-not-retry"
    )
    @mirrors("ping-backchannel-notification-endpoint-return-redirect-request")
    @pytest.mark.rfc("ciba#10.2")
    @pytest.mark.parametrize(
        "answer", [(204, b""), (200, b"a body"), (401, b""), (403, b""), (301, b"")], ids=str
    )
    async def test_an_answer_is_announced_once(
        self, client: FapiClient, answer: tuple[int, bytes]
    ) -> None:
        suite = client.provider.suite
        suite.ping_answer, suite.pings[:] = answer, []
        auth_req_id = await begin(client)
        await respond(client, auth_req_id)
        await pinged(client, auth_req_id)
        await check(client, await poll(client, auth_req_id))
        assert len(suite.pings) == 1
