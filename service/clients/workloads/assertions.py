"""workload: the token that a platform has given to a workload (RFC 7523 §3, draft-ietf-oauth-spiffe-client-auth)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import ClassVar, cast

import msgspec
import structlog

from service.clients.workloads.keys import WorkloadKeys
from service.keys import jose
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, accepted_header, audiences_of, check_times, time_in
from service.model.client import Client
from service.model.credentials import Evidence, RequestCredentials
from service.model.registry import LiveRegistry
from service.model.resources import ApiResource
from service.model.workload import JWT_SPIFFE, Workload, WorkloadIssuer, split_spiffe_id
from service.protocol.token_types import CLIENT_ASSERTION

log = structlog.stdlib.get_logger(__name__)

MAX_LENGTH = 16384
"""Characters of a token; a longer one is refused before any work."""

_LONGEST_NAME = 256
"""Characters of a name in the audit log."""

_TYP = frozenset({UNNAMED, "jwt", "jose"})
"""The `typ` of JWT-SVIDs (JWT-SVID §2.3) and of other tokens, in lower case; Kubernetes writes none."""


class Presented(msgspec.Struct, frozen=True):
    """A token as it came in: its issuer by its own word, and what a rule makes of its unverified claims."""

    token: str
    type: str | None
    issuer: WorkloadIssuer
    unverified_claims: Mapping[str, object]
    workload: Workload | None


class WorkloadAssertions(msgspec.Struct, frozen=True, kw_only=True):
    """Accepts a token again and again until it expires: platforms give it to a workload for several requests."""

    issuer: str
    registry: LiveRegistry
    keys: WorkloadKeys
    clock_skew: int

    def find(self, request: RequestCredentials) -> Presented | None:
        """Return the token of a workload in the request; None if none claims to be of a configured issuer."""
        token, kind = (
            request.params.get(name) for name in ("client_assertion", "client_assertion_type")
        )
        issuers = self.registry.current.workload_issuers
        if token is None or not issuers or len(token) > MAX_LENGTH:
            return None
        with suppress(jose.JwtRefused):
            claims = jose.unverified_claims(token)
            for issuer in issuers.values():
                if _is_of(issuer, claims):
                    return Presented(token, kind, issuer, claims, issuer.find_workload(claims))
        return None

    async def verify(self, presented: Presented, now: int) -> None:
        """Raise JwtRefused unless the issuer has signed the token for this service, and for now (RFC 7523 §3)."""
        issuer = presented.issuer
        spiffe = issuer.kind == "spiffe" and presented.type == JWT_SPIFFE
        if not spiffe and presented.type != CLIENT_ASSERTION:
            raise jose.JwtRefused("client_assertion_type is not one for this kind of issuer")
        header = accepted_header(presented.token, algorithms=issuer.algorithms, typ=_TYP)
        claims = await self.keys.verify(presented.token, header, issuer)
        self._check_audience(claims.get("aud"), issuer)
        expires, issued = (time_in(claims, name) for name in ("exp", "iat"))
        if expires is None:
            raise jose.JwtRefused("exp is missing")
        check_times(claims, now=now, clock_skew=self.clock_skew)
        if expires - (now if issued is None else issued) > issuer.max_lifetime:
            raise jose.JwtRefused("it lives longer than max_lifetime of its issuer")

    def _check_audience(self, aud: object, issuer: WorkloadIssuer) -> None:
        audience = issuer.audience or self.issuer
        named = audiences_of(aud)
        if audience not in named:
            raise jose.JwtRefused("this service is not in its aud")
        if len(named) > 1 and not issuer.allow_other_audiences:
            raise jose.JwtRefused("aud has other values, too")


class WorkloadMethod(msgspec.Struct, frozen=True):
    """Takes an assertion whose issuer is a platform; the others are the clients' own."""

    algorithms: ClassVar[tuple[str, ...]] = SIGNING_ALGORITHMS
    reads: ClassVar[frozenset[str]] = frozenset({"client_assertion", "client_assertion_type"})
    workloads: WorkloadAssertions

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        presented = self.workloads.find(request)
        if presented is None:
            return None
        name = presented.workload.name if presented.workload else ""
        return Evidence(client_id=name, proof=presented.token, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        found = await self._verify(evidence)
        if found is None or client is None or found.rule.client_id is None:
            return False
        # A rule that makes clients makes none of the registry, even if `check` has overlooked one.
        registered = self.workloads.registry.current.clients
        return found.rule.template is None or client.client_id not in registered

    async def find_api(self, evidence: Evidence) -> ApiResource | None:
        """Return the API resource that the workload is; None if it is a client, or is not proven."""
        found = await self._verify(evidence)
        if found is None or found.rule.api_resource is None:
            return None
        return self.workloads.registry.current.api_resources.get(found.rule.api_resource)

    def describe(self, evidence: Evidence) -> dict[str, str]:
        """Return what the audit log has of a token that was accepted: its issuer, subject, pod and node."""
        presented = self.workloads.find(evidence.request)
        if presented is None:
            return {}
        facts = {"issuer": presented.issuer.name, "sub": presented.unverified_claims.get("sub")}
        facts |= dict(_read_bindings(presented.unverified_claims))
        return {
            name: value[:_LONGEST_NAME] for name, value in facts.items() if isinstance(value, str)
        }

    async def _verify(self, evidence: Evidence) -> Workload | None:
        """Return what the token makes the workload; None, after as much work, if it is refused or no rule fits."""
        presented = self.workloads.find(evidence.request)
        if presented is None:
            return None
        try:
            await self.workloads.verify(presented, evidence.request.now)
        except jose.JwtRefused as refused:
            name, reason = presented.issuer.name, str(refused)
            log.info("workload token refused", issuer=name, reason=reason)
            return None
        if presented.workload is None:
            sub = str(presented.unverified_claims.get("sub"))[:_LONGEST_NAME]
            log.info("no rule fits the workload", issuer=presented.issuer.name, sub=sub)
        return presented.workload


def _is_of(issuer: WorkloadIssuer, claims: Mapping[str, object]) -> bool:
    """Return whether the claims name this issuer; an assertion that a client made for itself names none."""
    iss, sub = claims.get("iss"), claims.get("sub")
    if issuer.kind != "spiffe":
        return isinstance(iss, str) and iss == issuer.issuer
    parts = split_spiffe_id(sub) if isinstance(sub, str) and iss != sub else None
    return parts is not None and parts["trust_domain"] == issuer.trust_domain


def _read_bindings(claims: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the pod and node that a service account token is bound to (KEP-1205, KEP-4193)."""
    bound = claims.get("kubernetes.io")
    for kind in ("pod", "node"):
        found = cast("dict[str, object]", bound).get(kind) if isinstance(bound, dict) else None
        if isinstance(found, dict):
            members = cast("dict[str, object]", found)
            yield kind, members.get("name")
            yield f"{kind}_uid", members.get("uid")
