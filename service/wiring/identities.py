"""Builds the keys of the service, and what knows and authenticates clients and users."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from msgspec.structs import replace

from service.clients import documents
from service.clients.authentication import MethodParts
from service.clients.authentication.authentication import ClientAuthentication
from service.clients.authentication.client_assertion import ClientAssertions
from service.clients.directory import Clients, RegisteredClients
from service.clients.issuer_keys import IssuerKeys
from service.clients.keys import ClientAlgorithms, ClientKeys
from service.clients.origins import RegisteredOrigins
from service.clients.published_keys import PublishedKeys
from service.clients.registration.metadata import RegistrationPolicy
from service.clients.registration.registration import ClientRegistration
from service.clients.registration.rules import Offered
from service.clients.rules.mutual_tls import (
    certificates_reach_the_service,
    methods_without_evidence,
)
from service.clients.secret_uses import SecretUses
from service.clients.shared_secrets import SharedSecrets
from service.clients.workloads.assertions import WorkloadAssertions
from service.clients.workloads.keys import WorkloadKeys
from service.clock import clock
from service.config.configuration import Configuration
from service.identity.assertions import ForeignAssertions
from service.identity.factors.enrolment import EnrolmentMethod, FactorChanges
from service.identity.factors.methods import FactorMethod
from service.identity.factors.passkey_challenges import Passkeys, find_relying_party
from service.identity.factors.passkeys import PasskeyEnrolment, PasskeyMethod, UserPasskeys
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.factors.second_factors import SafeNotifier, SecondFactors, open_user_notifier
from service.identity.factors.stored import PasskeyOwners
from service.identity.factors.totp import TotpEnrolment, TotpMethod
from service.identity.password_sign_in import PasswordSignIn
from service.identity.passwords import FairTurns, Passwords
from service.identity.providers.accounts import ProviderAccounts
from service.identity.providers.client_authentication import OwnCredentials
from service.identity.providers.provider import ProviderDirectory
from service.identity.providers.sign_in import ProviderSignIn
from service.identity.refusal_costs import RefusalCosts
from service.identity.slow_secrets import SlowSecrets
from service.identity.throttle import Throttle
from service.keys.key_source import KeySource, build_key_source, encryption_algorithms
from service.keys.keyring import KeyRing
from service.model.catalogue import Catalogue
from service.model.client_entry import ClientEntry
from service.start.rules import client_rules
from service.store.room import RegistrationRoom
from service.wiring.shared import Shared

REGISTERED_TOKEN_LIFETIME = ClientEntry(client_id="dc_").access_token_lifetime
"""Seconds; no registered client's JWT is valid for longer."""


def open_key_source(shared: Shared) -> KeySource:
    """Return the service's own keys, wherever they are kept; raise KeyFileError if the operator's key files are wrong."""
    registry, signing = shared.registry, shared.configuration.signing

    def longest_token() -> int:
        longest = registry.current.longest_token
        return max(longest, REGISTERED_TOKEN_LIFETIME) if shared.has_dynamic_clients else longest

    return build_key_source(
        signing,
        kv=shared.kv,
        prefix=shared.prefix,
        seal=shared.seal,
        longest_token=longest_token,
        encryption=lambda: encryption_algorithms(
            registry.current.clients.values(),
            configured=signing.encryption_algorithms,
            registration=shared.registration_is_on,
        ),
        now=clock,
        emit=shared.emit,
        timed=shared.timed,
    )


def build_registered(shared: Shared, ring: KeyRing) -> RegisteredClients:
    """Build what reads the clients that have registered themselves."""
    policy = _build_policy(shared, ring, shared.configuration.registration.allowed_scopes)
    return RegisteredClients(stores=shared.stores, policy=policy, seal=shared.seal)


def build_registration(
    shared: Shared, registered: RegisteredClients, origins: RegisteredOrigins
) -> ClientRegistration:
    """Build what registers clients; where anyone may register, there is a bound."""
    settings, room = shared.configuration.registration, None
    if settings.is_open and settings.lifetime is not None:
        room = RegistrationRoom(
            kv=shared.kv,
            prefix=shared.prefix,
            limits=shared.configuration.limits,
            memory=shared.store_memory,
            lifetime=settings.lifetime,
        )
    return ClientRegistration(
        registered=registered,
        stores=shared.stores,
        origins=origins,
        http=shared.client_http("sector_identifier").guarded,
        lifetime=settings.lifetime,
        room=room,
        emit=shared.emit,
    )


def build_documents(
    shared: Shared, ring: KeyRing, origins: RegisteredOrigins
) -> documents.ClientDocuments:
    """Build what finds clients by their metadata documents."""
    settings = shared.configuration.client_id_metadata
    policy = _build_policy(shared, ring, settings.allowed_scopes)
    return documents.ClientDocuments(
        http=shared.document_http("client_document", max_body=documents.MAX_BYTES),
        policy=documents.DocumentPolicy(registration=policy, allowed_hosts=settings.allowed_hosts),
        origins=origins,
        per_network=shared.rate_limit("client_document", documents.PER_NETWORK),
        per_host=shared.rate_limit("client_document_host", documents.PER_HOST),
        lifetime=settings.cache,
        emit=shared.emit,
    )


def _build_policy(
    shared: Shared, ring: KeyRing, allowed_scopes: frozenset[str]
) -> RegistrationPolicy:
    configuration, registry = shared.configuration, shared.registry
    offered = Offered(
        catalogue=_find_catalogue(configuration),
        algorithms=configuration.signing.algorithms,
        pairwise=configuration.pairwise_salt is not None,
        details_types=lambda: registry.current.authorization_details_types.keys(),  # noqa: PLW0108 - of the registry then
        decryption=lambda: ring.encryption_algorithms,
        pushed_requests=configuration.pushed_authorization_requests,
        certificates=partial(certificates_reach_the_service, settings=configuration),
    )
    rules = client_rules(offered.catalogue)
    return RegistrationPolicy(allowed_scopes=allowed_scopes, offered=offered, rules=rules)


def _find_catalogue(configuration: Configuration) -> Catalogue:
    """Return what is supported; some grant types are registrable with an initial access token only."""
    catalogue = configuration.catalogue
    if configuration.registration.initial_access_token_sha256:
        return catalogue
    openly = catalogue.openly_registrable_grant_types
    return replace(catalogue, registrable_grant_types=openly)


def build_client_authentication(
    shared: Shared,
    keys: ClientKeys,
    clients: Clients,
    algorithms: ClientAlgorithms,
    *,
    turns: FairTurns,
    uses: SecretUses | None,
) -> ClientAuthentication:
    """Build what authenticates clients, by the methods for which these settings leave evidence."""
    skew = shared.configuration.server.clock_skew
    assertions = ClientAssertions(
        issuer=shared.issuer,
        base_urls=shared.base_urls,
        aliases=shared.aliases,
        keys=keys,
        stores=shared.stores,
        room=shared.room,
        clock_skew=skew,
    )
    workloads = WorkloadAssertions(
        issuer=shared.issuer,
        registry=shared.registry,
        keys=WorkloadKeys(partial(shared.http_trusting, "workload_issuer")),
        clock_skew=skew,
    )
    methods = MethodParts(
        assertions=assertions,
        secrets=SharedSecrets(SlowSecrets(shared.registry, turns).find),
        registry=shared.registry,
        published=keys.published,
        workloads=workloads,
        without=methods_without_evidence(shared.configuration),
    )
    return ClientAuthentication(methods, clients=clients, algorithms=algorithms, uses=uses)


def build_password_sign_in(shared: Shared, turns: FairTurns) -> PasswordSignIn:
    """Build what signs users in by password."""
    users = shared.users
    passwords = Passwords(shared.registry)
    return PasswordSignIn(
        users=users,
        passwords=passwords,
        costs=RefusalCosts(users=users, passwords=passwords, stores=shared.stores),
        turns=turns,
        throttle=shared.ending.password_throttle,
        emit=shared.emit,
    )


def build_provider_sign_in(shared: Shared, ring: KeyRing) -> ProviderSignIn:
    """Build what signs users in at identity providers."""
    return ProviderSignIn(
        issuer=shared.issuer.rstrip("/"),
        callback=shared.aliases.callback,
        registry=shared.registry,
        credentials=OwnCredentials(ring=ring),
        accounts=ProviderAccounts(users=shared.users, registry=shared.registry),
        directory=ProviderDirectory(http=shared.http_for("identity_provider", shared.outgoing)),
        stores=shared.stores,
        room=shared.room,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
    )


def build_assertions(shared: Shared) -> ForeignAssertions:
    """Build what verifies JWTs of trusted issuers."""
    client_http = shared.client_http("trusted_issuer")
    published = PublishedKeys(client_http)
    return ForeignAssertions(
        issuer=shared.issuer,
        registry=shared.registry,
        keys=IssuerKeys(published=published, http=client_http.free),
        users=shared.users,
        accounts=ProviderAccounts(users=shared.users, registry=shared.registry),
        stores=shared.stores,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
        aliases=shared.aliases,
    )


def build_passkeys(shared: Shared) -> UserPasskeys | None:
    """Build what asks for passkeys and verifies them; None where browsers have none for this issuer."""
    party = find_relying_party(shared.issuer, shared.registry.current.mfa.webauthn.rp_id)
    if party is None:
        return None
    per_minute = shared.configuration.limits.parked_requests_per_minute
    limit = shared.rate_limit("passkey", per_minute)
    return UserPasskeys(
        passkeys=Passkeys(party=party, stores=shared.stores, rate_limit=limit),
        owners=PasskeyOwners(shared.stores),
        enrolled=shared.factors,
    )


def build_second_factors(
    shared: Shared, passkeys: UserPasskeys | None, throttle: Throttle
) -> SecondFactors:
    """Build what verifies second factors; raise CannotServe if the operator's notifier cannot be made."""
    emit = shared.emit
    by_passkey = (PasskeyMethod(used=passkeys, emit=emit),) if passkeys else ()
    methods: tuple[FactorMethod, ...] = (
        *by_passkey,
        TotpMethod(shared.factors),
        RecoveryCodeMethod(shared.factors),
    )
    return SecondFactors(
        enrolled=shared.factors,
        methods=methods,
        throttle=throttle,
        guesses=shared.guesses,
        notifier=SafeNotifier(open_user_notifier(shared.configuration.users.notifier), emit),
        emit=emit,
    )


def build_factor_changes(
    shared: Shared, passkeys: UserPasskeys | None, second_factors: SecondFactors
) -> FactorChanges:
    """Build what adds and removes factors; the kind that stands first is offered first."""
    host = urlsplit(shared.issuer).hostname or ""  # a colon separates it from the user
    totp = TotpEnrolment(enrolled=shared.factors, seal=shared.seal, host=host)
    by_passkey = (PasskeyEnrolment(used=passkeys, emit=shared.emit),) if passkeys else ()
    methods: tuple[EnrolmentMethod, ...] = (totp, *by_passkey)
    return FactorChanges(
        second_factors=second_factors,
        methods=methods,
        notifier=second_factors.notifier,
        emit=shared.emit,
    )
