"""The rules of the profiles, by which each client is judged that has one, and the whole registry by `check --profile`.

This is the one table: `docs/profiles.md` is made of it. What a rule demands of the file is in
`profile_rules.py`; the files in `enforced` hold a client to it for every request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from service.clients.rules import mcp
from service.clients.rules import profile_rules as judge
from service.clients.rules.mcp import MCP
from service.clients.rules.profile_rules import Rule
from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.model.profiles import FAPI, FAPI2, FAPI_CIBA, MESSAGE_SIGNING, OAUTH21, SECURITY

_OAUTH21 = frozenset({OAUTH21, MCP})
_ALL = _OAUTH21 | FAPI
_SIGNING = frozenset({MESSAGE_SIGNING})


RULES: tuple[Rule, ...] = (
    Rule(
        name="only_codes",
        says="`code` is the only response type; no implicit, hybrid or password grant (OAuth 2.1 §10, FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=_ALL,
        of_client=judge.only_codes,
        enforced=("service/authorize/checks.py", "service/endpoints/token.py"),
    ),
    Rule(
        name="s256",
        says="every code has an S256 challenge (OAuth 2.1 §7.5.1, FAPI 2.0 Security Profile §5.3.2.2)",
        profiles=_ALL,
        of_client=judge.only_s256,
        enforced=("service/authorize/checks.py", "service/grants/authorization_code.py"),
    ),
    Rule(
        name="exact_redirect_uris",
        says="redirect URIs are compared exactly (OAuth 2.1 §2.3.1, FAPI 2.0 Security Profile §5.3.2.2)",
        profiles=_ALL,
        enforced=("service/authorize/reply_to.py", "service/protocol/redirect_uri.py"),
    ),
    Rule(
        name="encrypted_redirect_uris",
        says="redirect URIs are https, or http on loopback (OAuth 2.1 §1.5, §7.5)",
        profiles=_OAUTH21,
        of_client=judge.encrypted_redirect_uris,
        enforced=("service/authorize/reply_to.py",),
    ),
    Rule(
        name="no_token_in_query",
        says="no token is accepted or sent in a query (OAuth 2.1 §10, FAPI 2.0 Security Profile §5.3.4)",
        profiles=_ALL,
        enforced=("service/web/key_proofs.py", "service/protocol/authorization_request.py"),
    ),
    Rule(
        name="protected_refresh_tokens",
        says="a public client's refresh tokens rotate or are bound to a key (OAuth 2.1 §4.3.1)",
        profiles=_OAUTH21,
        of_client=judge.noticed_thefts_of_refresh_tokens,
        enforced=("service/grants/refresh_token.py",),
    ),
    Rule(
        name="explicit_type",
        says="request objects have the `typ` `oauth-authz-req+jwt`, or none (RFC 9101 §10.8)",
        profiles=_ALL - {MCP},
        enforced=("service/authorize/request_object.py",),
    ),
    Rule(
        name="confidential",
        says="the client is confidential (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI,
        of_client=judge.confidential_client,
        enforced=("service/clients/authentication/authentication.py",),
    ),
    Rule(
        name="client_authentication",
        says="the client authenticates by private_key_jwt or mutual TLS (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI,
        of_client=judge.strong_authentication,
        enforced=("service/clients/authentication/authentication.py",),
    ),
    Rule(
        name="assertion_audience",
        says="the only audience of a client assertion is the issuer (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI2,
        enforced=("service/clients/authentication/client_assertion.py",),
    ),
    Rule(
        name="algorithms",
        says="the client signs assertions, proofs and request objects by PS256, ES256 or EdDSA (FAPI 2.0 Security Profile §5.4.1)",
        profiles=FAPI,
        of_client=judge.algorithms_of_the_client,
        enforced=(
            "service/clients/authentication/client_assertion.py",
            "service/clients/proofs.py",
            "service/authorize/request_object.py",
        ),
    ),
    Rule(
        name="algorithms_of_the_service",
        says="the service signs for the client by PS256, ES256 or EdDSA (FAPI 2.0 Security Profile §5.4.1)",
        profiles=FAPI,
        of_file=judge.algorithms_of_the_service,
        enforced=("service/config/registry.py", "service/tokens/access_token.py"),
    ),
    Rule(
        name="key_sizes",
        says="RSA keys have 2048 bits and EC keys 224 bits at least, and EdDSA is by Ed25519, in certificates, too (FAPI 2.0 Security Profile §5.4.1)",
        profiles=FAPI,
        of_client=judge.long_keys,
        enforced=(
            "service/keys/jose.py",
            "service/clients/authentication/tls_client_auth.py",
            "service/clients/authentication/self_signed_tls_client_auth.py",
            "service/web/key_proofs.py",
        ),
    ),
    Rule(
        name="no_rsa1_5",
        says="nothing is encrypted by RSA1_5 (FAPI 2.0 Security Profile §5.4.1)",
        profiles=FAPI,
        enforced=("service/keys/jwe.py", "service/model/types.py"),
    ),
    Rule(
        name="bound_tokens",
        says="access tokens are bound to a key by DPoP or mutual TLS (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI,
        of_client=judge.bound_tokens,
        enforced=("service/web/key_proofs.py",),
    ),
    Rule(
        name="pushed_requests",
        says="authorization requests are pushed, and expire in less than 600 s (FAPI 2.0 Security Profile §5.3.2.2)",
        profiles=FAPI2,
        of_client=judge.pushed_requests,
        enforced=("service/authorize/checks.py",),
    ),
    Rule(
        name="pushed_redirect_uri",
        says="`redirect_uri` is in the pushed request (FAPI 2.0 Security Profile §5.3.2.2)",
        profiles=FAPI2,
        enforced=("service/authorize/reply_to.py",),
    ),
    Rule(
        name="https_redirect_uris",
        says="redirect URIs are https, or loopback for a native app (FAPI 2.0 Security Profile §5.3.2.2)",
        profiles=FAPI,
        of_client=judge.https_redirect_uris,
        enforced=("service/authorize/reply_to.py",),
    ),
    Rule(
        name="short_codes",
        says="codes live for 60 s at most (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI,
        of_client=judge.short_codes,
        enforced=("service/authorize/answer.py",),
    ),
    Rule(
        name="no_rotation",
        says="refresh tokens do not rotate (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI2,
        of_client=judge.lasting_refresh_tokens,
        enforced=("service/grants/refresh_token.py",),
    ),
    Rule(
        name="issuer_in_answers",
        says="authorization responses have `iss` (FAPI 2.0 Security Profile §5.3.2.2, RFC 9207 §2)",
        profiles=FAPI2 | {MCP},
        enforced=("service/authorize/reply_to.py",),
    ),
    Rule(
        name="clock_skew",
        says="the clocks of others may differ by 10 to 60 s (FAPI 2.0 Security Profile §5.3.2.1)",
        profiles=FAPI,
        of_file=judge.clock_skew,
        enforced=("service/keys/jose.py",),
    ),
    Rule(
        name="objects_alone",
        says="only the members of a request object count (RFC 9101 §6.3, RFC 9126 §3)",
        profiles=FAPI2,
        enforced=("service/authorize/request_object.py",),
    ),
    Rule(
        name="ciba",
        says="CIBA requests are signed, for an hour at most, and have a `binding_message` or `authorization_details`; nothing is pushed (FAPI-CIBA §5.2.2)",
        profiles=FAPI,
        enforced=("service/ciba/request_object.py", "service/ciba/request.py"),
    ),
    Rule(
        name="ciba_alone",
        says="the client gets no authorization codes: the profiles of FAPI 2.0 have rules for these, and those of FAPI-CIBA, too",
        profiles=frozenset({FAPI_CIBA}),
        of_client=judge.no_codes,
    ),
    Rule(
        name="signed_requests",
        says="requests are signed (FAPI 2.0 Message Signing §5.3.1)",
        profiles=_SIGNING,
        of_client=judge.signed_requests,
        enforced=("service/authorize/request_object.py",),
    ),
    Rule(
        name="fresh_requests",
        says="a signed request has the issuer as `aud`, `nbf` at most an hour ago and `exp` at most an hour after `nbf` (FAPI 2.0 Message Signing §5.3.1)",
        profiles=_SIGNING,
        enforced=("service/authorize/request_object.py",),
    ),
    Rule(
        name="signed_responses",
        says="authorization responses are signed, unless `profile_options` says `response: plain` (FAPI 2.0 Message Signing §5.4.1)",
        profiles=_SIGNING,
        of_client=judge.signed_responses,
        enforced=("service/authorize/request.py",),
    ),
    Rule(
        name="signed_introspection",
        says="the APIs of the client's scopes get signed introspection responses (FAPI 2.0 Message Signing §5.5.1)",
        profiles=_SIGNING,
        of_file=judge.signed_introspection,
        enforced=("service/endpoints/introspection.py",),
    ),
    Rule(
        name="https_issuer",
        says="the issuer is https, even on loopback (FAPI 2.0 Security Profile §5.2.1)",
        profiles=FAPI2,
        of_file=judge.encrypted_issuer,
        whole_registry=True,
    ),
    Rule(
        name="algorithms_of_everybody",
        says="every signing key of the service is for PS256, ES256 or EdDSA (FAPI 2.0 Security Profile §5.4.1)",
        profiles=FAPI2,
        of_file=judge.algorithms_of_everybody,
        whole_registry=True,
    ),
    *mcp.RULES,
)
PROFILES = (OAUTH21, SECURITY, MESSAGE_SIGNING, MCP, "fapi2")


def clients_meet_their_profiles(file: ConfigurationFile) -> Iterator[Finding]:
    """Each client that has a profile meets its rules."""
    for at, client in enumerate(file.clients):
        if client.profile_options is not None and client.profile != MESSAGE_SIGNING:
            message = f"is for clients of {MESSAGE_SIGNING}"
            yield Finding(("clients", at, "profile_options"), message, "remove it")
    named = [client.profile for client in file.clients]
    if not any(named):
        return
    for rule in RULES:
        if not rule.whole_registry:
            held = [at for at, name in enumerate(named) if name in rule.profiles]
            yield from _judge(rule, file, held)


def stricter_rules(name: str) -> tuple[Callable[[ConfigurationFile], Iterable[Finding]], ...]:
    """Return the rules of a profile for the whole registry; fapi2 is fapi2_security."""
    profile = SECURITY if name == "fapi2" else name

    def registry_meets_profile(file: ConfigurationFile) -> Iterator[Finding]:
        for rule in RULES:
            if profile in rule.profiles:
                judged = [] if rule.whole_registry else [each.profile for each in file.clients]
                # One that has such a profile itself is judged by it anyway.
                known = {at for at, own in enumerate(judged) if own in rule.profiles}
                held = [at for at in range(len(file.clients)) if at not in known]
                yield from _judge(rule, file, held, all_of_them=True)

    return (registry_meets_profile,)


def _judge(
    rule: Rule, file: ConfigurationFile, held: list[int], *, all_of_them: bool = False
) -> Iterator[Finding]:
    if rule.of_client is not None:
        for at in held:
            yield from (each.below("clients", at) for each in rule.of_client(file.clients[at]))
    if rule.of_file is not None and (held or all_of_them):
        yield from rule.of_file(file, [file.clients[at] for at in held])
