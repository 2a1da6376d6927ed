"""One record of every kind, with every member, always the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from service.identity.factors.stored import CONTENT as FACTORS
from service.identity.factors.stored import OwnedFactors
from service.identity.sources.last_seen import CONTENT as LAST_SEEN
from service.identity.sources.last_seen import SeenUser
from service.keys.schedule import RECORD as KEYS
from service.keys.schedule import KeyRecord, SigningKey
from service.model.authorization import (
    Authorization,
    AuthorizationCode,
    Confirmation,
    RefreshToken,
    Source,
    Spent,
)
from service.model.backchannel import BackchannelDelivery, BackchannelRequest
from service.model.client_metadata import RegisteredClient
from service.model.factors import Factors, Passkey, Totp
from service.model.password_hash import RefusalCost
from service.model.polling import Decision, PolledPlace, PolledRequest
from service.model.session import (
    Answers,
    Consent,
    LogoutDelivery,
    PendingSignIn,
    ProviderSession,
    SealedRequest,
    SealedSignIn,
    Session,
)
from service.model.webhook import WebhookDelivery
from service.protocol.claims import ClaimsRequest
from service.protocol.pkce import S256, CodeChallenge
from service.store import verbs
from service.store.records import SPENT, Encoding, Records
from tests.store.table import find_kinds

FOLDER = Path(__file__).parent
SHAPES = FOLDER / "shapes.json"
NOON = 1_795_262_400
"""Some noon; every time in an example is counted from it."""

DIGEST = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

_REFRESH_TOKEN = RefreshToken(
    seed="c2VlZA",
    ends_at=NOON + 86400,
    sealed_claims=b"a nonce, and what is sealed",
    cnf=Confirmation("jkt", DIGEST),
    authorization_until=NOON + 86400,
)

EXAMPLES: Mapping[str, object] = {
    "az": Authorization(
        id="AAAAAAAAAAAAAAAA",
        client_id="web",
        scope=frozenset({"openid"}),
        resources=("https://api.example",),
        subject="818727",
        amr=("pwd",),
        acr="urn:example:silver",
        idp="local",
        auth_time=NOON,
        session_id="SSSSSSSSSSSSSSSS",
        user_claims={"name": "Alice"},
        claims={"tenant": "one"},
        act={"sub": "api1"},
        claims_request=ClaimsRequest(
            id_token=("name",), userinfo=("email", "name"), locales=("de",)
        ),
        grant_type="authorization_code",
        family_key="ZmFtaWx5",
        authorization_details=({"type": "payment", "actions": ["read"], "amount": {"value": 1.5}},),
        cnf=Confirmation("x5t#S256", DIGEST),
        source=Source(selector="BBBBBBBBBBBBBBBB", name="a-jti", expires_at=NOON + 3600),
        created_at=NOON,
    ),
    "ac": AuthorizationCode(
        redirect_uri="https://web.example/callback",
        code_challenge=CodeChallenge(value=DIGEST, method=S256),
        nonce="nonce",
    ),
    "at": {"iss": "https://id.example", "sub": "818727", "aud": "api1", "exp": NOON + 3600},
    "ap": True,
    "pq": PolledRequest(
        client_id="tv",
        grant_type="urn:ietf:params:oauth:grant-type:device_code",
        scope=frozenset({"openid"}),
        resources=("https://api.example",),
        authorization_details=({"type": "payment", "actions": ["read"]},),
        cnf=Confirmation("jkt", DIGEST),
        expires_at=NOON + 600,
    ),
    "pp": verbs.new_pace(5),
    "pd": Decision(attempt="attempt", authorization_id="AAAAAAAAAAAAAAAA"),
    "bq": BackchannelRequest(
        client_id="till",
        subject="818727",
        digest=DIGEST,
        scope=frozenset({"openid"}),
        binding_message="W4SCT",
        acr_values=("password",),
        created_at=NOON,
        expires_at=NOON + 120,
    ),
    "cd": BackchannelDelivery(
        kind="ping",
        ref="SSSSSSSSSSSSSSSS",
        client_id="till",
        expires_at=NOON + 120,
        sealed="gAAAAA",
        failures=2,
        cause="status 503",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ),
    "cs": Authorization(
        id="AAAAAAAAAAAAAAAA",
        client_id="admin-console",
        scope=frozenset({"openid"}),
        subject="818727",
        auth_time=NOON,
        created_at=NOON,
    ),
    "rm": True,
    "lu": "2026-11-27",
    "cl": True,
    "dc": PolledPlace("AAAAAAAAAAAAAAAA", DIGEST),
    "rt": _REFRESH_TOKEN,
    "spent": Spent(attempt="attempt", at=NOON, refresh_token=_REFRESH_TOKEN),
    "rv": True,
    "pa": "SSSSSSSSSSSSSSSS",
    "ss": Session(
        id="SSSSSSSSSSSSSSSS",
        cookie_digest=DIGEST,
        subject="818727",
        idp="google",
        amr=("mfa", "pwd"),
        acr="urn:example:silver",
        auth_time=NOON,
        started_at=NOON,
        ends_at=NOON + 86400,
        remember=True,
        user_agent="Mozilla/5.0",
        address="192.0.2.1",
        user_claims={"name": "Alice"},
        second_factor_amr=("otp",),
        provider_session=ProviderSession(sub="theirs", sid="their-session", at=NOON),
        browser_digest=DIGEST,
    ),
    "pe": NOON,
    "ae": NOON,
    "su": NOON,
    "fl": DIGEST,
    "ld": LogoutDelivery(
        client_id="web",
        session_id="SSSSSSSSSSSSSSSS",
        subject="818727",
        failures=2,
        cause="status 503",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ),
    "ll": True,
    "wd": WebhookDelivery(
        id="AAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBBBBBBBB.msg_CCCCCCCCCCCCCCCCCCCCCC",
        kind="session_started",
        host="siem.example.com",
        subject="818727",
        created_at=NOON,
        event='{"specversion":"1.0"}',
        failures=2,
        cause="status 503",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ),
    "wl": True,
    "co": Consent(
        client_id="web",
        scope=frozenset({"openid"}),
        claims=frozenset({"email"}),
        given_at=NOON,
        unverified_client_host="web.example",
    ),
    "pk": SealedRequest(
        sealed="gAAAAA",
        browser_digest=DIGEST,
        answers=Answers(
            session_id="hYy_pJH3FKK5VJbM",
            subject="818727",
            authenticated_at=NOON,
            account_selected=True,
            completed=frozenset({"/account/terms"}),
            consented_scope=frozenset({"openid"}),
            consented_claims=frozenset({"email"}),
        ),
    ),
    "ps": PendingSignIn(
        provider="google",
        issuer="https://accounts.example",
        issuer_is_sent=True,
        browser_digest=DIGEST,
        nonce="nonce",
        code_verifier="verifier",
        began_at=NOON,
        anew=True,
        max_age=300,
        return_to="/account/security",
    ),
    "pl": SealedSignIn(sealed="gAAAAA", browser_digest=DIGEST),
    "wc": DIGEST,
    "po": "818727",
    "rc": RegisteredClient(
        client_id="dc_AAAAAAAAAAAAAAAA",
        issued_at=NOON,
        expires_at=NOON + 86400,
        metadata={"redirect_uris": ["https://app.example/callback"]},
        access_token_digest=DIGEST,
        secret_sha256=bytes(32),
        sealed_secret="gAAAAA",
    ),
    "fa": "gAAAAA",
    "ls": "gAAAAA",
    "pc": RefusalCost(decoy="$2b$12$" + "." * 53, seconds=0.25),
    "last_seen": SeenUser(sub="818727", username="alice", claims={"groups": ["staff"]}),
    "factors": OwnedFactors(
        sub="818727",
        factors=Factors(
            totp=Totp(
                secret="JBSWY3DPEHPK3PXP",
                name="Phone",
                created_at=NOON,
                last_used=NOON + 60,
                last_step=NOON // 30,
            ),
            passkeys=(
                Passkey(
                    credential_id="Y3JlZGVudGlhbA",
                    public_key="pQECAyYgASFYIA",
                    user_handle="aGFuZGxl",
                    sign_count=7,
                    backup_eligible=True,
                    transports=("internal", "hybrid"),
                    name="Laptop",
                    created_at=NOON,
                    last_used=NOON + 60,
                ),
            ),
            recovery_codes=(DIGEST,),
            version="AAAAAAAAAAAAAAAA",
        ),
    ),
    "ja": "attempt",
    "dp": "attempt",
    "keys": KeyRecord(
        keys=(
            SigningKey(
                kid="kid",
                alg="ES256",
                announced_at=NOON,
                sign_from=NOON + 60,
                retired_at=NOON + 3600,
                sealed="gAAAAA",
            ),
        )
    ),
}


def encodings() -> dict[str, Encoding[Any]]:
    """Return the encoding of every kind of record, by its name."""
    found: list[Encoding[Any]] = [
        kind.encoding for _, kind in find_kinds() if isinstance(kind, Records)
    ]
    return {one.kind: one for one in (*found, SPENT, KEYS, FACTORS, LAST_SEEN)}


def golden(encoding: Encoding[Any]) -> Path:
    """Return the file of a record as this version writes it."""
    return FOLDER / f"{encoding.kind}.v{encoding.version}.json"


def shape(encoding: Encoding[Any]) -> str:
    """A hash of what the kind's members are called and of which type they are."""
    schema = msgspec.json.schema(encoding.type, schema_hook=lambda _: {"type": "any"})
    return sha256(json.dumps(_without_words(schema), sort_keys=True).encode()).hexdigest()[:16]


def _without_words(schema: Any) -> Any:
    """The schema without what is written for people."""
    if isinstance(schema, list):
        return [_without_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    words = {"description", "title"}
    return {name: _without_words(one) for name, one in schema.items() if name not in words}
