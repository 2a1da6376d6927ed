"""The parts of the features: keys, clients, users, tokens, authorization requests, logout and grants."""

from __future__ import annotations

from functools import cached_property

from service.admin.explain.parts import Parts
from service.authorize.checks import ArrivingRequests, RequestReader
from service.authorize.parameters import CIBA, KEPT
from service.authorize.parking import Parking
from service.authorize.request_object import BROWSER_RULES, RequestObjects
from service.authorize.request_uri import RequestUris
from service.ciba.request_object import CibaObjectRules
from service.clients.authentication.authentication import ClientAuthentication
from service.clients.directory import Clients, RegisteredClients
from service.clients.documents import ClientDocuments
from service.clients.keys import ClientAlgorithms, ClientKeys
from service.clients.origins import RegisteredOrigins
from service.clients.proofs import DpopProofs, Nonces
from service.clients.published_keys import PublishedKeys
from service.clients.registration.registration import ClientRegistration
from service.clients.secret_uses import SecretUses
from service.config.configuration import Configuration
from service.config.problem import CannotServe, Finding
from service.grants import BuiltinServices, Grants
from service.grants.token_exchange.subject_tokens import SubjectTokens
from service.grants.token_exchange.transaction_token import TransactionTokens
from service.identity.access import GrantedAccess
from service.identity.assertions import ForeignAssertions
from service.identity.factors.enrolment import FactorChanges
from service.identity.factors.passkeys import PasskeySignIn, UserPasskeys
from service.identity.factors.second_factors import SecondFactors
from service.identity.password_sign_in import PasswordSignIn
from service.identity.passwords import FairTurns
from service.identity.providers.revocation_tokens import RevocationTokens
from service.identity.providers.sign_in import ProviderSignIn
from service.identity.revocable_users import RevocableUsers
from service.identity.throttle import Throttle
from service.identity.users import Subjects
from service.keys.key_source import KeySource
from service.keys.keyring import KeyRing
from service.keys.schedule import KeyFileError
from service.logout.request import PARAMETERS, UserLogout
from service.model.catalogue import Registrable
from service.protocol.paths import GLOBAL_REVOCATION
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.exchanged import ExchangedTokens
from service.tokens.id_token import IdTokens
from service.tokens.issuer import TokenIssuer
from service.tokens.liveness import Revocation
from service.tokens.polling import Polling
from service.tokens.subject import SubjectIdentifiers
from service.tokens.target import Targets
from service.wiring import identities
from service.wiring.shared import Shared


class Features:
    """Each part is built when it is first read, of those above it: by `serve` at its start, by a command if it needs it.

    Building connects to nothing. It raises CannotServe or KeyFileError if a class or file of the operator is wrong.
    """

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        shared.registry.prepare = self.prepare_reload
        self.origins = RegisteredOrigins(stores=shared.stores)

    @cached_property
    def key_source(self) -> KeySource:
        return identities.open_key_source(self.shared)

    @property
    def explained(self) -> Parts:
        """These parts, as explanations read them."""
        return self  # pyright: ignore[reportReturnType] - it takes no cached property for a property

    @property
    def ring(self) -> KeyRing:
        return self.key_source.ring

    @cached_property
    def client_keys(self) -> ClientKeys:
        published = PublishedKeys(self.shared.client_http("client_keys"))
        return ClientKeys(ring=self.ring, published=published)

    @cached_property
    def algorithms(self) -> ClientAlgorithms:
        shared = self.shared
        return ClientAlgorithms(
            ring=self.ring, registry=shared.registry, registration=shared.registration_is_on
        )

    @cached_property
    def dpop(self) -> DpopProofs:
        """Verifies proofs that clients hold the keys that their tokens are bound to (RFC 9449)."""
        shared, settings = self.shared, self.shared.configuration.dpop
        always = settings.nonce == "always"
        return DpopProofs(
            base_urls=shared.base_urls,
            aliases=shared.aliases,
            lifetime=settings.proof_lifetime,
            clock_skew=shared.configuration.server.clock_skew,
            nonces=Nonces(keys=self.ring, lifetime=settings.nonce_lifetime, always=always),
            stores=shared.stores,
        )

    @cached_property
    def registered(self) -> RegisteredClients | None:
        """The clients that have registered themselves; None where they may not."""
        is_on = self.shared.registration_is_on
        return identities.build_registered(self.shared, self.ring) if is_on else None

    @cached_property
    def registration(self) -> ClientRegistration | None:
        """Registers clients; None where they may not."""
        if self.registered is None:
            return None
        return identities.build_registration(self.shared, self.registered, self.origins)

    @cached_property
    def documents(self) -> ClientDocuments | None:
        """The clients that are named by the URL of their metadata; None where none are."""
        is_on = self.shared.documents_are_on
        return identities.build_documents(self.shared, self.ring, self.origins) if is_on else None

    @cached_property
    def registrable(self) -> Registrable:
        """The choices of clients that have no entry in the configuration."""
        found = Registrable()
        for each in (self.registered, self.documents):
            found |= Registrable() if each is None else each.policy.registrable
        return found

    @cached_property
    def clients(self) -> Clients:
        return Clients(
            registry=self.shared.registry, registered=self.registered, documents=self.documents
        )

    @cached_property
    def client_authentication(self) -> ClientAuthentication:
        return identities.build_client_authentication(
            self.shared,
            self.client_keys,
            self.clients,
            self.algorithms,
            turns=self.hashing_turns,
            uses=self.secret_uses,
        )

    @cached_property
    def secret_uses(self) -> SecretUses | None:
        """Notes the days on which secrets are used; None where no operator looks at them."""
        shared = self.shared
        return None if shared.configuration.admin is None else SecretUses(shared.stores)

    @cached_property
    def hashing_turns(self) -> FairTurns:
        """The turns in which passwords and slow hashes of secrets are verified."""
        return FairTurns()

    @cached_property
    def subjects(self) -> Subjects:
        return Subjects(users=self.shared.users, registry=self.shared.registry)

    @cached_property
    def local_sign_in(self) -> PasswordSignIn:
        return identities.build_password_sign_in(self.shared, self.hashing_turns)

    @cached_property
    def provider_sign_in(self) -> ProviderSignIn:
        return identities.build_provider_sign_in(self.shared, self.ring)

    @cached_property
    def revocation_tokens(self) -> RevocationTokens:
        """Verifies the JWTs of providers that ask for the end of all that a user has."""
        shared = self.shared
        return RevocationTokens(
            directory=self.provider_sign_in.directory,
            registry=shared.registry,
            stores=shared.stores,
            audiences=tuple([base + GLOBAL_REVOCATION for base in shared.base_urls]),
            clock_skew=shared.configuration.server.clock_skew,
        )

    @cached_property
    def revocable_users(self) -> RevocableUsers:
        shared = self.shared
        return RevocableUsers(
            issuer=shared.issuer,
            registry=shared.registry,
            users=shared.users,
            stores=shared.stores,
        )

    @cached_property
    def assertions(self) -> ForeignAssertions:
        return identities.build_assertions(self.shared)

    @cached_property
    def passkeys(self) -> UserPasskeys | None:
        return identities.build_passkeys(self.shared)

    @cached_property
    def factor_throttle(self) -> Throttle:
        return self.shared.ending.factor_throttle

    @cached_property
    def passkey_sign_in(self) -> PasskeySignIn | None:
        """Signs users in by a passkey alone; None where browsers have none for this issuer."""
        if self.passkeys is None:
            return None
        users, emit = self.shared.users, self.shared.emit
        return PasskeySignIn(
            used=self.passkeys, users=users, throttle=self.factor_throttle, emit=emit
        )

    @cached_property
    def second_factors(self) -> SecondFactors:
        return identities.build_second_factors(self.shared, self.passkeys, self.factor_throttle)

    @cached_property
    def factor_changes(self) -> FactorChanges:
        return identities.build_factor_changes(self.shared, self.passkeys, self.second_factors)

    @cached_property
    def access(self) -> GrantedAccess:
        """The access that users have granted to clients."""
        shared = self.shared
        return GrantedAccess(consents=shared.consents, authorizations=shared.authorizations)

    @cached_property
    def identifiers(self) -> SubjectIdentifiers:
        return SubjectIdentifiers(pairwise_salt=self.shared.configuration.pairwise_salt)

    @cached_property
    def access_tokens(self) -> AccessTokens:
        shared = self.shared
        targets = Targets(shared.registry)
        return AccessTokens(
            issuer=shared.issuer, keys=self.ring, stores=shared.stores, targets=targets
        )

    @cached_property
    def id_tokens(self) -> IdTokens:
        return IdTokens(
            issuer=self.shared.issuer,
            keys=self.client_keys,
            clients=self.clients,
            identifiers=self.identifiers,
        )

    @cached_property
    def revocation(self) -> Revocation:
        return Revocation(stores=self.shared.stores, emit=self.shared.emit)

    @cached_property
    def polling(self) -> Polling:
        shared = self.shared
        return Polling(registry=shared.registry, revocation=self.revocation, emit=shared.emit)

    @cached_property
    def active_tokens(self) -> ActiveTokens:
        shared = self.shared
        return ActiveTokens(
            issuer=shared.issuer,
            keys=self.ring,
            stores=shared.stores,
            clients=self.clients,
            users=shared.users,
        )

    @cached_property
    def token_issuer(self) -> TokenIssuer:
        shared = self.shared
        return TokenIssuer(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            exchanged=ExchangedTokens(
                id_tokens=self.id_tokens,
                revocation=self.revocation,
                targets=self.access_tokens.targets,
                emit=shared.emit,
            ),
            revocation=self.revocation,
            expiration_members=shared.configuration.token_expiration_members,
            emit=shared.emit,
        )

    @cached_property
    def arriving(self) -> ArrivingRequests:
        """Opens authorization requests."""
        shared, configuration = self.shared, self.shared.configuration
        request_objects = RequestObjects(
            issuer=shared.issuer,
            keys=self.client_keys,
            algorithms=self.algorithms,
            uris=RequestUris(shared.client_http("request_object")),
            rules={**BROWSER_RULES, CIBA: CibaObjectRules()},
            clock_skew=configuration.server.clock_skew,
            signature_required=configuration.require_signed_request_object,
        )
        reader = RequestReader(
            issuer=shared.issuer,
            clients=self.clients,
            request_objects=request_objects,
            id_tokens=self.id_tokens,
            client_keys=self.client_keys,
            push_required=configuration.require_pushed_authorization_requests,
        )
        return ArrivingRequests(reader=reader, pushed=self.build_parking("pushed", KEPT))

    def build_parking(self, purpose: str, parameters: frozenset[str]) -> Parking:
        """Build what keeps requests while users sign in, within the limit of a network."""
        shared = self.shared
        return Parking(
            stores=shared.stores, purpose=purpose, parameters=parameters, room=shared.room
        )

    @cached_property
    def parked_requests(self) -> Parking:
        return self.build_parking("authorize", KEPT)

    @cached_property
    def user_logout(self) -> UserLogout:
        shared = self.shared
        return UserLogout(issuer=shared.issuer, clients=self.clients, sessions=shared.sessions)

    @cached_property
    def parked_logouts(self) -> Parking:
        return self.build_parking("logout", PARAMETERS)

    @cached_property
    def transaction_tokens(self) -> TransactionTokens:
        shared = self.shared
        return TransactionTokens(
            issuer=shared.issuer,
            active_tokens=self.active_tokens,
            client_keys=self.client_keys,
            clock_skew=shared.configuration.server.clock_skew,
            emit=shared.emit,
        )

    @cached_property
    def grants(self) -> Grants:
        """All grants; raise CannotServe if an extension grant of the operator cannot be made."""
        shared = self.shared
        subject_tokens = SubjectTokens(
            issuer=shared.issuer,
            active_tokens=self.active_tokens,
            id_tokens=self.id_tokens,
            sessions=shared.sessions,
            assertions=self.assertions,
        )
        return Grants(
            BuiltinServices(
                issuer=shared.issuer,
                registry=shared.registry,
                users=shared.users,
                active_tokens=self.active_tokens,
                emit=shared.emit,
                sessions=shared.sessions,
                sign_in=self.local_sign_in,
                second_factors=self.second_factors,
                revocation=self.revocation,
                polling=self.polling,
                assertions=self.assertions,
                subject_tokens=subject_tokens,
                transaction_tokens=self.transaction_tokens,
                targets=self.access_tokens.targets,
            )
        )

    def prepare_reload(self, following: Configuration) -> None:
        """Make what depends on the next registry, and read key files again; raise CannotServe if that is impossible."""
        self.grants.prepare(following.registry)
        try:
            self.key_source.read_files(following.signing.verify_only)
        except KeyFileError as error:
            raise CannotServe(Finding(("signing",), str(error))) from error
        self.shared.verify_only = following.signing.verify_only
