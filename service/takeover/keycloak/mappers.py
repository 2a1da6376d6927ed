"""Takes over the claims that the protocol mappers of a client or a client scope put into tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from service.takeover.keycloak.claims import (
    ClaimPath,
    FixedClaim,
    UserClaim,
    fixed_claim,
    rename,
    split_path,
    user_claim,
)
from service.takeover.keycloak.roles import MAX_NAME
from service.takeover.node import Misplaced, Node, quoted
from service.takeover.report import Report
from service.tokens.claims import PROTOCOL_CLAIMS

_WITHOUT_EFFECT = (
    *("oidc-allowed-origins-mapper", "oidc-acr-mapper", "oidc-amr-mapper", "oidc-sub-mapper"),
    *("oidc-nonce-backwards-compatible-mapper", "oidc-session-state-mapper"),
)
"""Mappers whose effect is there for all clients, or is one that no client notices."""
_ORGANIZATIONS = "oidc-organization-membership-mapper"
_NOTE = "oidc-usersessionmodel-note-mapper"
_NOTES = frozenset(
    {"AUTH_TIME", "auth_time", "client_id", "clientId", "clientHost", "clientAddress", "acr"}
)
"""Notes of a session that are claims of every token here, or that nobody decides by."""
_CLIENT_NOTES = frozenset({"client_id", "clientId"})
_REMEDIES = {
    "oidc-hardcoded-role-mapper": "give the role to the users themselves",
    "oidc-role-name-mapper": "name the role so at the users, or let the API know both names",
    "oidc-usersessionmodel-note-mapper": "leave it out, if no application reads it",
}


class Mapped(msgspec.Struct, kw_only=True):
    """The claims and scope values that come with a client scope, or with a client."""

    in_id_token: list[str] = msgspec.field(default_factory=list)
    """Names of claims for ID tokens."""
    in_userinfo: list[str] = msgspec.field(default_factory=list)
    in_access_token: list[str] = msgspec.field(default_factory=list)
    audiences: dict[str, str] = msgspec.field(default_factory=dict)
    """APIs, each with the place of its mapper."""
    resolves_audience: bool = False
    """Whether APIs are those clients whose roles the user has."""
    fixed: list[FixedClaim] = msgspec.field(default_factory=list)
    client_ids: list[ClaimPath] = msgspec.field(default_factory=list)
    """Further claims with the client_id, in tokens of the client's own."""
    is_pairwise: bool = False
    of_users: list[UserClaim] = msgspec.field(default_factory=list)

    sources: dict[str, str] = msgspec.field(default_factory=dict)
    """The names that users have claims under, where another client has one of the same name."""

    def note_places(self, name: str, config: Node) -> None:
        """Note where a claim is put."""
        in_id_token = config.flag("id.token.claim")
        if in_id_token:
            self.in_id_token.append(name)
        if config.flag("userinfo.token.claim", in_id_token):
            self.in_userinfo.append(name)
        if config.flag("access.token.claim"):
            self.in_access_token.append(name)


class _Maker(msgspec.Struct, frozen=True):
    """The first mapper that makes a claim, or a member of it."""

    signature: tuple[str, ...]
    """Empty for a claim that others are members of."""
    owner: str
    """The place of its client or scope."""


class Mappers:
    """Reads mappers, and knows the claims of users that all of them make."""

    def __init__(self, report: Report, *, has_organizations: bool) -> None:
        """Begin without any; a mapper of organisations does nothing without organisations."""
        self._ignored = () if has_organizations else (_ORGANIZATIONS,)
        self.user_claims: dict[tuple[str, ...], UserClaim] = {}
        """By what distinguishes them."""
        self._makers: dict[ClaimPath, _Maker] = {}
        """By the path of each claim that is made, and of each that others are members of."""
        self._report = report

    def read(self, mappers: Iterable[Node], client_id: str | None = None) -> Mapped:
        """Return what the mappers of a client or scope do; report those that do something else."""
        mapped = Mapped()
        for node in mappers:
            try:
                self._read_one(node, mapped, client_id)
            except Misplaced as error:
                self._report.leave_out(error.place, error.reason, error.remedy)
        return mapped

    def _read_one(self, node: Node, mapped: Mapped, client_id: str | None) -> None:
        kind, config = node.text("protocolMapper") or "", node.below("config")
        if (node.text("protocol") or "openid-connect") != "openid-connect":
            return
        if kind in _SIMPLE:
            _SIMPLE[kind](node, mapped)
        elif kind == "oidc-hardcoded-claim-mapper":
            mapped.fixed.append(claim := fixed_claim(config))
            mapped.note_places(claim.path[0], config)
        elif (made := user_claim(kind, config)) is not None:
            self._read_user_claim(node, made, mapped, client_id)
        elif kind == _NOTE and config.text("user.session.note") in _NOTES:
            _read_note(config, mapped)
        elif kind not in self._ignored:
            remedy = _REMEDIES.get(kind, "give users the claim by users.* (docs/users.md)")
            self._report.leave_out(node.place, f"a mapper {quoted(kind)} is not known here", remedy)

    def _read_user_claim(
        self, node: Node, claim: UserClaim, mapped: Mapped, client_id: str | None
    ) -> None:
        config = node.below("config")
        name = config.text("claim.name") or claim.name
        made = claim
        if not self._is_alone(node, split_path(name), claim.signature):
            own_name = f"{claim.name} of {client_id}"
            if client_id is None or claim.is_nested or len(own_name) > MAX_NAME:
                message = f"another mapper makes the claim {quoted(name)} of something else"
                self._report.leave_out(node.place, message, "give one of the two another name")
                return
            mapped.sources[claim.name] = own_name
            made = rename(claim, own_name)
        elif claim.is_nested:
            self._report_shared(node, claim)
        self.user_claims[made.signature] = made
        mapped.note_places(claim.name, config)
        mapped.of_users.append(claim)

    def _is_alone(self, node: Node, path: ClaimPath, signature: tuple[str, ...]) -> bool:
        """Return whether no mapper makes this claim, or one around or within it, of something else; note who makes it."""
        around = [path[:length] for length in range(1, len(path))]
        if any(self._makers[each].signature for each in around if each in self._makers):
            return False
        new = _Maker(signature, _owner_of(node))
        for each in around:
            self._makers.setdefault(each, _Maker((), new.owner))
        return self._makers.setdefault(path, new).signature == signature

    def _report_shared(self, node: Node, claim: UserClaim) -> None:
        """Report members of one claim that were different ones at different clients or scopes."""
        first = self._makers[claim.name,].owner
        if claim.signature not in self.user_claims and first != _owner_of(node):
            message = f"applications with a claim within {quoted(claim.name)} get all members of it, those of {first}, too"
            self._report.change(node.place, message)


def _owner_of(mapper: Node) -> str:
    """Return the place of the client or scope that has a mapper."""
    return mapper.place.rpartition(".protocolMappers")[0]


def _read_note(config: Node, mapped: Mapped) -> None:
    """Note a claim by which some APIs know a service account."""
    path = split_path(config.text("claim.name") or "client_id")
    is_id = config.text("user.session.note") in _CLIENT_NOTES
    if is_id and config.flag("access.token.claim") and path[0] not in PROTOCOL_CLAIMS:
        mapped.client_ids.append(path)


def _read_audience(node: Node, mapped: Mapped) -> None:
    config = node.below("config")
    name = config.text("included.client.audience") or config.text("included.custom.audience")
    if name and config.flag("access.token.claim", True):
        mapped.audiences[name] = node.place


def _resolve_audience(_: Node, mapped: Mapped) -> None:
    mapped.resolves_audience = True


def _make_pairwise(_: Node, mapped: Mapped) -> None:
    mapped.is_pairwise = True


def _do_nothing(_: Node, __: Mapped) -> None:
    pass


_SIMPLE: Mapping[str, Callable[[Node, Mapped], None]] = {
    **dict.fromkeys(_WITHOUT_EFFECT, _do_nothing),
    "oidc-audience-mapper": _read_audience,
    "oidc-audience-resolve-mapper": _resolve_audience,
    "oidc-sha256-pairwise-sub-mapper": _make_pairwise,
}
