"""Issuers of workload identities, the rules that say which client or API a workload is, and how names are matched and made (RFC 7523 §3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from service.model import types
from service.protocol.templates import find_claim_names

SPIFFE = "spiffe://"
JWT_SPIFFE = "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe"
"""The `client_assertion_type` of a JWT-SVID (draft-ietf-oauth-spiffe-client-auth)."""
LONGEST_CLIENT_ID = 256
ANY = "*"

_KUBERNETES = re.compile(r"system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})")
_TRUST_DOMAIN = r"[a-z0-9._-]{1,255}"
_SPIFFE_ID = re.compile(rf"spiffe://({_TRUST_DOMAIN})/([A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*)")
_LONGEST_SPIFFE_ID = 2048
_NOT_ENCODED = re.compile(r"[^a-z0-9.-]")
_ENCODED = r"(?:[a-z0-9.-]|%[0-9A-F]{2})+"
_LABEL = r"[a-z0-9-]+"
"""A Kubernetes namespace, which has no dots (RFC 1123 label)."""
_PARTS = re.compile(r"\{([^{}]*)\}")
_SEPARATOR = {"kubernetes": ":", "spiffe": "/", "oidc": "/"}


class WorkloadRule(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies workloads as a client, or as an API."""

    subject: types.Text | None = None
    """The `sub` of the workload's token, compared exactly, but that * stands for one or more characters within one segment, such as
    "system:serviceaccount:shop:*". Segments end at ":" (kubernetes) or "/" (spiffe, oidc). Only oidc may leave it out."""
    claims: dict[str, types.Text | bool | int] = msgspec.field(default_factory=dict)
    """With kind oidc: claims that the token must have too, with their values, such as {repository: acme/shop}; * counts as in
    subject."""
    client_id: types.ClientId | None = None
    """The client that the workload is. With template: the client id that is made for it, with variables in braces, such as
    "shop.{name}". kubernetes has {namespace} and {name}, spiffe {trust_domain} and {path}, oidc the claims that the rule
    compares. All but a to z, 0 to 9, "." and "-" in their values is percent-encoded."""
    template: types.ClientId | None = None
    """The client with template: true whose settings the made client has; null: client_id is a client of this file."""
    api_resource: types.Text | None = None
    """The API resource that the workload is: it introspects with its own token. Give this or client_id."""

    @property
    def patterns(self) -> Mapping[str, str]:
        """The claims that are compared as texts."""
        subject = {} if self.subject is None else {"sub": self.subject}
        texts = {name: value for name, value in self.claims.items() if isinstance(value, str)}
        return texts | subject


class Workload(NamedTuple):
    """The rule that fits a token, and the client id or name of the API that it leads to."""

    rule: WorkloadRule
    name: str


class WorkloadIssuer(msgspec.Struct, frozen=True, kw_only=True):
    """A platform that gives each of its workloads a token of its own, which is the workload's credential here."""

    name: types.ShortName
    """The issuer's name in messages and in the audit log."""
    kind: Literal["kubernetes", "spiffe", "oidc"]
    """kubernetes: service account tokens; spiffe: JWT-SVIDs; oidc: ID tokens of CI systems and other platforms."""
    issuer: types.Text | None = None
    """The `iss` of its tokens, compared character by character; not for spiffe."""
    trust_domain: types.Text | None = None
    """With kind spiffe: the trust domain in the `sub` of its tokens, such as example.org."""
    bundle_endpoint_url: types.WebUrl | None = None
    """With kind spiffe: the URL of the trust domain's bundle (profile https_web), the only place that its keys come from."""
    jwks_uri: types.WebUrl | None = None
    """The URL at which it publishes its keys; null: the one in its metadata, below issuer."""
    jwks: dict[str, object] | None = None
    """Its public keys (JWK set, RFC 7517), where nothing is to be fetched."""
    token_file: types.FilePath | None = None
    """A file with a token that is sent along when keys and metadata are read (Authorization: Bearer); it is read each time."""
    ca_file: types.FilePath | None = None
    """A file with certificate authorities, PEM, that are trusted besides the system's when keys and metadata are read; null:
    outgoing.ca_file."""
    audience: types.Text | None = None
    """The value that has to be in `aud`; null: the issuer of this service."""
    allow_other_audiences: bool = False
    """true: `aud` may have other values as well, although their owners could then use a token here that they received."""
    max_lifetime: types.Lifetime = 3600
    """The longest time from `iat` to `exp` of its tokens, which can be used again and again for so long."""
    algorithms: Annotated[frozenset[types.SigningAlgorithm], msgspec.Meta(min_length=1)] = (
        frozenset({"RS256", "ES256"})
    )
    """The signature algorithms that are accepted from it."""
    rules: Annotated[tuple[WorkloadRule, ...], msgspec.Meta(min_length=1)]
    """Which workload is which client or API. The first rule that fits decides; without one the answer is invalid_client."""
    # The operator names the URLs of its keys, which may therefore lead anywhere.
    dynamically_registered: ClassVar[bool] = False

    @property
    def labels(self) -> frozenset[str]:
        """The variables whose values have no dots."""
        return frozenset({"namespace"}) if self.kind == "kubernetes" else frozenset()

    def find_template(self, client_id: str) -> str | None:
        """Return the template of the first rule by which some workload is this client, without an entry in the registry."""
        made = (
            rule.template
            for rule in self.rules
            if rule.template is not None
            and can_make(rule.client_id or "", client_id, labels=self.labels)
        )
        return next(made, None)

    @property
    def separator(self) -> str:
        """The character at which segments of subjects and claims end."""
        return _SEPARATOR[self.kind]

    def find_workload(self, claims: Mapping[str, object]) -> Workload | None:
        """Return what the first rule that fits these claims makes of them; None if no rule fits or nothing can be made."""
        sub = claims.get("sub")
        if not isinstance(sub, str):
            return None
        values = self._values_of_subject(sub)
        rule = next((each for each in self.rules if self.fits(each, claims)), None)
        if values is None or rule is None:
            return None
        if rule.client_id is None:
            return Workload(rule, str(rule.api_resource))
        if rule.template is None:
            return Workload(rule, rule.client_id)
        compared = {name: str(claims[name]) for name in rule.patterns}
        made = make_client_id(rule.client_id, compared | values)
        return None if made is None else Workload(rule, made)

    def _values_of_subject(self, sub: str) -> dict[str, str] | None:
        """Return the variables that this kind of subject has; None if the subject is malformed."""
        if self.kind == "kubernetes":
            return split_service_account(sub)
        return split_spiffe_id(sub) if self.kind == "spiffe" else {}

    def fits(self, rule: WorkloadRule, claims: Mapping[str, object]) -> bool:
        """Return whether each claim that the rule names has its value; true is not 1."""
        patterns = rule.patterns
        for name, wanted in {**rule.claims, **patterns}.items():
            given = claims.get(name)
            if type(given) is not type(wanted):
                return False
            if given != wanted and not (
                isinstance(given, str) and matches(str(wanted), given, self.separator)
            ):
                return False
        return True


def named_clients(issuers: Iterable[WorkloadIssuer]) -> frozenset[str]:
    """Return the clients that workloads are by a rule, and those whose settings made clients have."""
    rules = [rule for issuer in issuers for rule in issuer.rules]
    return frozenset(name for rule in rules if (name := rule.template or rule.client_id))


def find_template(issuers: Iterable[WorkloadIssuer], client_id: str) -> str | None:
    """Return the template of the first rule that makes a client of this id; None if no rule does."""
    return next(filter(None, (issuer.find_template(client_id) for issuer in issuers)), None)


def named_apis(issuers: Iterable[WorkloadIssuer]) -> frozenset[str]:
    """Return the APIs that workloads are by a rule."""
    rules = [rule for issuer in issuers for rule in issuer.rules]
    return frozenset(name for rule in rules if (name := rule.api_resource))


def split_service_account(sub: str) -> dict[str, str] | None:
    """Return `namespace` and `name` of a Kubernetes service account; None for another subject."""
    found = _KUBERNETES.fullmatch(sub)
    return None if found is None else {"namespace": found[1], "name": found[2]}


def split_spiffe_id(sub: str) -> dict[str, str] | None:
    """Return `trust_domain` and `path`, without its first slash, of a SPIFFE ID (SPIFFE-ID §2); None for another subject."""
    found = _SPIFFE_ID.fullmatch(sub) if len(sub) <= _LONGEST_SPIFFE_ID else None
    if found is None or not {".", ".."}.isdisjoint(found[2].split("/")):
        return None
    return {"trust_domain": found[1], "path": found[2]}


def is_trust_domain(name: str) -> bool:
    """Return whether it is the name of a SPIFFE trust domain (SPIFFE-ID §2.1)."""
    return re.fullmatch(_TRUST_DOMAIN, name) is not None


def matches(pattern: str, text: str, separator: str) -> bool:
    """Return whether a text is what a rule names: equal, or with a `*` for one or more characters of one segment."""
    if ANY not in pattern:
        return pattern == text
    wanted, given = pattern.split(separator), text.split(separator)
    return len(wanted) == len(given) and all(map(_segment_fits, wanted, given))


def _segment_fits(wanted: str, given: str) -> bool:
    begin, star, end = wanted.partition(ANY)
    if not star:
        return wanted == given
    longer = len(given) > len(begin) + len(end)
    return longer and given.startswith(begin) and given.endswith(end)


def encode(value: str) -> str:
    """Return the value with everything but `[a-z0-9.-]` percent-encoded, so that different values stay different."""
    return _NOT_ENCODED.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), value
    )


def make_client_id(pattern: str, values: dict[str, str]) -> str | None:
    """Return the client id of a workload; None if it is too long for one, or a value is missing."""
    if not values.keys() >= set(find_claim_names(pattern)):
        return None
    made = _PARTS.sub(lambda name: encode(values[name[1]]), pattern)
    return made if len(made) <= LONGEST_CLIENT_ID else None


def can_make(pattern: str, client_id: str, *, labels: frozenset[str] = frozenset()) -> bool:
    """Return whether some workload would get this client id from the pattern; `labels` are variables without dots."""
    return _made_by(pattern, labels).fullmatch(client_id) is not None


@lru_cache(maxsize=1000)
def _made_by(pattern: str, labels: frozenset[str]) -> re.Pattern[str]:
    texts = _PARTS.split(pattern)
    return re.compile(
        "".join(
            (_LABEL if text in labels else _ENCODED) if at % 2 else re.escape(text)
            for at, text in enumerate(texts)
        )
    )


def is_ambiguous(pattern: str, *, labels: frozenset[str] = frozenset()) -> bool:
    """Return whether two workloads could get the same client id: nothing parts two variables for certain."""
    texts = _PARTS.split(pattern)
    for before, text, after in zip(texts[1::2], texts[2::2], texts[3::2], strict=False):
        plain = r"[a-z0-9.%A-F-]" if labels.isdisjoint({before, after}) else r"[a-z0-9-]"
        if not re.sub(plain, "", text):
            return True
    return False


def may_be_equal(pattern: str, other: str) -> bool:
    """Return whether two patterns might make the same client id; true if that cannot be excluded easily."""
    (first, *_, last), (begin, *_, end) = _PARTS.split(pattern), _PARTS.split(other)
    if "{" not in pattern or "{" not in other:
        return can_make(pattern, other) or can_make(other, pattern)
    heads = first.startswith(begin) or begin.startswith(first)
    return heads and (last.endswith(end) or end.endswith(last))
