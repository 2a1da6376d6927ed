"""Issuers of workload identities, and the rules that say which client or API a workload is (RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, ClassVar, Literal, NamedTuple

from service.model import types
from service.protocol import workload

_SEPARATOR = {"kubernetes": ":", "spiffe": "/", "oidc": "/"}


@types.section
class WorkloadRule(types.Section):
    """Identifies workloads as a client, or as an API."""

    subject: types.Text | None = None
    """The `sub` of the workload's token, compared exactly, but that * stands for one or more characters within one segment, such as
    "system:serviceaccount:shop:*". Segments end at ":" (kubernetes) or "/" (spiffe, oidc). Only oidc may leave it out."""
    claims: dict[str, types.Text | bool | int] = field(default_factory=dict)
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


@types.section
class WorkloadIssuer(types.Section):
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
    jwks: dict[str, types.JsonValue] | None = None
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
    algorithms: Annotated[types.Several[types.SigningAlgorithm], types.Field(min_length=1)] = (
        frozenset({"RS256", "ES256"})
    )
    """The signature algorithms that are accepted from it."""
    rules: Annotated[types.Many[WorkloadRule], types.Field(min_length=1)]
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
            and workload.can_make(rule.client_id or "", client_id, labels=self.labels)
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
        made = workload.make_client_id(rule.client_id, compared | values)
        return None if made is None else Workload(rule, made)

    def _values_of_subject(self, sub: str) -> dict[str, str] | None:
        """Return the variables that this kind of subject has; None if the subject is malformed."""
        if self.kind == "kubernetes":
            return workload.split_service_account(sub)
        return workload.split_spiffe_id(sub) if self.kind == "spiffe" else {}

    def fits(self, rule: WorkloadRule, claims: Mapping[str, object]) -> bool:
        """Return whether each claim that the rule names has its value; true is not 1."""
        patterns = rule.patterns
        for name, wanted in {**rule.claims, **patterns}.items():
            given = claims.get(name)
            if type(given) is not type(wanted):
                return False
            if given != wanted and not (
                isinstance(given, str) and workload.fits(str(wanted), given, self.separator)
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
