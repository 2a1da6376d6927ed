"""The providers at which users may sign in, as config.yaml describes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec

from service.model import marks, types
from service.model.user import is_any_met
from service.protocol.typed_text import find_domain, normalize_domain

PRIVATE_KEY_JWT = "private_key_jwt"
"""Authentication by a JWT that is signed with a private key (OIDC Core §9)."""

VERIFIABLE = (("email", "email_verified"), ("phone_number", "phone_number_verified"))
"""Claims about how to reach a user, each with the one that says whether that is verified (OIDC Core §5.1)."""


def _email_domain(value: str) -> str:
    domain = normalize_domain(value)
    if domain is None:
        raise marks.expected("the domain of e-mail addresses, such as partner.example")
    return domain


class IdentityProvider(marks.Confidential, frozen=True, kw_only=True):
    """A provider at which users may sign in; acr_values=idp:<name> chooses it."""

    name: types.ShortName
    """The provider's name in acr_values, identity_provider_restrictions and the `idp` claim."""
    display_name: types.Texts | None = None
    """The text of its link on the login page; null: the name."""
    domains: tuple[Annotated[str, marks.After(_email_domain)], ...] = ()
    """The domains of its users' e-mail addresses, such as partner.example. If any provider has some, the login page asks for the
    e-mail address or user name first, and sends users of these domains to this provider."""
    show_link: bool = True
    """false: the login page has no link to it; users come to it by `domains` or by acr_values=idp:<name> alone."""
    kind: Literal["openid", "oauth2"] = "openid"
    """openid: an OpenID provider. oauth2: an authorization server without ID tokens, such as GitHub; who the user is says its
    userinfo_endpoint, and this service needs its three endpoints."""
    issuer: types.WebUrl = ""
    """The issuer of an OpenID provider, which needs one; its metadata are read at /.well-known/openid-configuration below it. With
    kind: oauth2 only for authorization servers that send `iss` (RFC 9207)."""
    authorization_endpoint: types.WebUrl | None = None
    """For kind: oauth2, the URL that users are sent to."""
    token_endpoint: types.WebUrl | None = None
    """For kind: oauth2, the URL at which the code is exchanged for an access token."""
    userinfo_endpoint: types.WebUrl | None = None
    """For kind: oauth2, the URL that answers the access token with a JSON object about the user."""
    subject_claim: types.Text = "sub"
    """For kind: oauth2, the member of this object that identifies the user and never changes, such as id."""
    client_id: str
    """The client_id of this service at the provider."""
    client_secret: Annotated[str, marks.SECRET] = ""
    """The client secret of this service at the provider; empty: a public client, unless it authenticates by private_key_jwt."""
    token_endpoint_auth_method: (
        Literal["client_secret_basic", "client_secret_post", "private_key_jwt", "none"] | None
    ) = None
    """How this service authenticates at the provider's token endpoint; null: by the client secret, as the provider's metadata ask
    for it. private_key_jwt: by a signed JWT, whose public key is at /connect/idp/<name>/jwks (OIDC Core §9)."""
    token_endpoint_auth_signing_alg: types.SigningAlgorithm | None = None
    """The algorithm that signs this JWT; null: the first of signing.algorithms that the provider takes."""
    private_key: types.FilePath | None = None
    """A file with a private key for this JWT, PEM or JWK, which needs token_endpoint_auth_signing_alg; null: the service's own
    signing keys."""
    client_assertion_audience: types.Text | None = None
    """The `aud` of this JWT; null: the provider's issuer. Some providers want the URL of their token endpoint instead."""
    own_callback: bool = False
    """true: the redirect URI is /connect/idp/<name>/callback, for this provider alone; false: /account/provider/callback, which
    providers share. Needed for one that does not send `iss` (RFC 9207) where another one may be malicious (RFC 9700 §4.4). With
    kind: oauth2 it is always so."""
    scopes: tuple[types.ScopeValue, ...] = ("openid", "profile", "email")
    """The scope values that this service asks the provider for."""
    acr_values: tuple[types.Text, ...] = ()
    """The authentication contexts that the provider is asked for, the preferred one first."""
    prompt: frozenset[Literal["login", "consent", "select_account"]] = frozenset()
    """The `prompt` values that the provider always gets: let the user log in again, consent, or choose an account."""
    claims: dict[str, types.Text] = msgspec.field(default_factory=dict)
    """Claims of the provider and their names here, such as {mail: email}; standard claims need not be listed."""
    subject_format: Literal["digest", "dex"] = "digest"
    """How the `sub` of its users here is made. digest: of the provider's name and the `sub` there. dex: as dex makes it, of the `sub` there and
    `connector_id`, so that applications know users again that came by this connector of dex."""
    connector_id: types.Text | None = None
    """The `id` of the connector in dex, for subject_format: dex; null: the provider's name."""
    allowed_claims: tuple[types.Condition, ...] = ()
    """The users with permission to sign in, by the provider's own claims: a list of conditions, one of which has to hold, such as
    [{groups: [staff]}, {hd: [partner.example]}]. In a condition, each claim has to have one of its values. Empty: all users."""
    link_by: Literal["subject", "verified_email"] = "subject"
    """subject: the provider's users have accounts of their own here. verified_email: one whose e-mail address the provider has
    verified signs in to the account of the one user of this service with the same verified address; needs trust_email."""
    trust_email: bool = False
    """true: the provider's word that it has verified a phone number counts, or an e-mail address of `domains`, or, if that is empty, of any
    domain that no other provider has; clients see it as verified, and with link_by: verified_email the operator of the provider can sign in as any
    user of this service with such an address. false: email_verified and phone_number_verified of its users are false."""
    trust_acr: bool = False
    """true: `acr` and `amr` of the provider are accepted like those of a sign-in here; false: they are ignored."""
    may_revoke_subjects: bool = False
    """true: the provider may end all that one of its own users has here: sessions, grants and tokens, by a JWT that it signs as its ID
    tokens, as Okta's Universal Logout does at /connect/global-token-revocation."""
    logo_uri: types.WebUrl | None = None
    """A picture for the link."""

    def allows_user(self, claims: Mapping[str, object]) -> bool:
        """Return whether a user with these claims of the provider meets one of `allowed_claims`, if there are any."""
        return not self.allowed_claims or is_any_met(self.allowed_claims, claims)

    @property
    def is_openid(self) -> bool:
        return self.kind == "openid"

    @property
    def has_own_callback(self) -> bool:
        """Whether answers come to a redirect URI of its own."""
        return self.own_callback or not self.is_openid

    @property
    def links_by_email(self) -> bool:
        """Whether its users may sign in to accounts of this service."""
        return self.trust_email and self.link_by == "verified_email"

    def judge_verification(
        self, claims: Mapping[str, object], providers: Iterable[IdentityProvider]
    ) -> Mapping[str, object]:
        """Return the claims of its user; what it may not vouch for is not verified (OIDC Core §5.7)."""
        refused = {
            verified: False
            for address, verified in VERIFIABLE
            if (address in claims or verified in claims)
            and not (self.trust_email and self._vouches_in(claims, address, providers))
        }
        return {**claims, **refused} if refused else claims

    def _vouches_in(
        self, claims: Mapping[str, object], address: str, providers: Iterable[IdentityProvider]
    ) -> bool:
        return address != "email" or self.vouches_for(str(claims.get(address)), providers)

    def vouches_for(self, email: str, providers: Iterable[IdentityProvider]) -> bool:
        """Return whether it may speak about addresses of this domain if it is trusted: its own domain, or one that none of all providers has."""
        domain = find_domain(email)
        if domain is None or self.domains:
            return domain in self.domains
        return all(domain not in other.domains for other in providers)
