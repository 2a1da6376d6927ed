"""Rules on users, their tenants, and the clients that they may use: each name leads somewhere, each condition can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.problem import Finding, Location, report_unknown, warning
from service.config.schema.file import ConfigurationFile
from service.model import types
from service.model.password_hash import PASSWORD_COST, USUAL, UnusableHash, parse_hash
from service.model.tenant import CLAIM
from service.model.user import HASHED, MAX_USERNAME, is_any_met
from service.protocol.claims import find_expected_type
from service.protocol.typed_text import is_plain_text, trim_name


def passwords_are_hashed(file: ConfigurationFile) -> Iterator[Finding]:
    """Passwords and user codes are kept as hashes in a known format, at the usual cost at least."""
    for at, user in enumerate(file.users.list):
        for name in HASHED:
            stored: str | None = getattr(user, name)
            if stored is not None:
                for finding in _judge_hash(stored):
                    yield finding.below("users", "list", at, name)


def _judge_hash(stored: str) -> Iterator[Finding]:
    hint = "`token-service hash-password` makes one"
    try:
        work = parse_hash(stored).work
    except UnusableHash as error:
        yield Finding((), str(error), hint)
        return
    if work < USUAL.work:
        message = (
            f"costs less than Argon2id with {PASSWORD_COST}, so a stolen hash is easier to guess"
        )
        yield warning((), message, hint)


def users_can_be_named(file: ConfigurationFile) -> Iterator[Finding]:
    """Someone can sign in with a user name."""
    for at, user in enumerate(file.users.list):
        name = trim_name(user.username)
        if not (name and is_plain_text(name, longest=MAX_USERNAME)):
            message = "nobody can sign in with a name of white space or with control characters"
            yield warning(("users", "list", at, "username"), message, "give another name")


def tenants_are_known(file: ConfigurationFile) -> Iterator[Finding]:
    """Tenants and providers that are named are registered."""
    tenants = {tenant.name for tenant in file.tenants}
    providers = {provider.name for provider in file.identity_providers}
    for at, client in enumerate(file.clients):
        for name in sorted(client.tenants - tenants):
            yield report_unknown(("clients", at, "tenants", name), name, tenants, "tenant")
    for at, tenant in enumerate(file.tenants):
        for position, name in enumerate(tenant.providers):
            if name not in providers:
                location = ("tenants", at, "providers", position)
                yield report_unknown(location, name, providers, "identity provider")


def users_have_one_tenant(file: ConfigurationFile) -> Iterator[Finding]:
    """A user's tenant is registered, and is one only."""
    tenants = {tenant.name for tenant in file.tenants}
    for at, user in enumerate(file.users.list):
        claimed = user.claims.get(CLAIM)
        if user.tenant is not None and user.tenant not in tenants:
            yield report_unknown(("users", "list", at, "tenant"), user.tenant, tenants, "tenant")
        if user.tenant is not None and claimed != user.tenant:
            message = "is another tenant than the user's `tenant`"
            yield Finding(("users", "list", at, "claims", CLAIM), message, "remove one of them")
        elif user.tenant is None and claimed is not None and tenants and claimed not in tenants:
            message = "is no tenant, so the user belongs to none"
            yield warning(("users", "list", at, "claims", CLAIM), message)


def tenants_do_not_overlap(file: ConfigurationFile) -> Iterator[Finding]:
    """A domain leads to one tenant, and a user of a provider to one, too."""
    domains: dict[str, Location] = {}
    listed: dict[str, Location] = {}
    mapped = {one.name for one in file.identity_providers if CLAIM in one.claims.values()}
    for at, tenant in enumerate(file.tenants):
        for position, domain in enumerate(tenant.domains):
            location = ("tenants", at, "domains", position)
            if domain in domains:
                message = f"{domain} is a domain of two tenants"
                yield Finding(location, message, "remove one", first=domains[domain])
            domains.setdefault(domain, location)
        for position, provider in enumerate(tenant.providers):
            location = ("tenants", at, "providers", position)
            if provider in listed and provider not in mapped:
                message = (
                    f"{provider} is a provider of two tenants, between which its users can choose"
                )
                hint = f"map a claim that names the tenant: claims: {{their_claim: {CLAIM}}}"
                yield Finding(location, message, hint, "warning", first=listed[provider])
            listed.setdefault(provider, location)


def tenants_can_be_used(file: ConfigurationFile) -> Iterator[Finding]:
    """Settings of tenants have an effect."""
    if file.tenants_required and not file.tenants:
        message = "there are no tenants, so every authorization request is refused"
        yield Finding(("tenants_required",), message, "add tenants, or remove it")
    for at, tenant in enumerate(file.tenants):
        if tenant.logo is not None and tenant.logo_uri is not None:
            message = "is not used, because logo is given"
            yield warning(("tenants", at, "logo_uri"), message, "remove it")
    by_name = {tenant.name: tenant for tenant in file.tenants}
    for at, client in enumerate(file.clients):
        own = [by_name[name] for name in client.tenants if name in by_name]
        offered = {name for tenant in own for name in tenant.providers}
        restrictions = client.identity_provider_restrictions
        usable = offered.intersection(restrictions) if restrictions else offered
        if own and not client.enable_local_login and not usable:
            message = (
                "no provider of these tenants is one of the client's, so nobody can sign in to it"
            )
            yield warning(("clients", at, "tenants"), message)


def allowed_users_can_exist(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of conditions that no user can ever meet."""
    are_listed = file.users.source == "file" and not (
        file.identity_providers or file.trusted_issuers
    )
    users = [{**user.claims, "sub": user.sub} for user in file.users.list]
    tenants = frozenset(tenant.name for tenant in file.tenants)
    met: dict[str, bool] = {}  # many clients may have the same conditions
    for location, condition, of_tenants in _find_conditions(file):
        found = [*_judge_condition(condition, of_tenants or tenants)]
        yield from (each.below(*location) for each in found)
        if not are_listed or found:
            continue
        if (key := repr(condition)) not in met:
            met[key] = any(is_any_met([condition], user) for user in users)
        if not met[key]:
            yield warning(location, "no user of users.list meets it")


def _find_conditions(
    file: ConfigurationFile,
) -> Iterator[tuple[Location, types.Condition, frozenset[str]]]:
    """Yield the conditions on users of clients and of the admin API, with the tenants that they may be of."""
    for at, client in enumerate(file.clients):
        for position, condition in enumerate(client.allowed_users):
            yield ("clients", at, "allowed_users", position), condition, frozenset(client.tenants)
    for key in ("allowed_users", "readers", "writers") if file.admin else ():
        for position, condition in enumerate(getattr(file.admin, key)):
            yield ("admin", key, position), condition, frozenset()


def _judge_condition(
    condition: Mapping[str, tuple[object, ...]], tenants: frozenset[str]
) -> Iterator[Finding]:
    for name, values in condition.items():
        for position, value in enumerate(values):
            expected = find_expected_type(name, value)
            if name == "sub" and not isinstance(value, str):
                expected = "text in quotes"
            if expected is not None:
                yield warning((name, position), f"never holds: expected {expected}")
            elif name == CLAIM and tenants and value not in tenants:
                yield warning((name, position), "never holds: no such tenant may use the client")


FILE_RULES = (
    users_can_be_named,
    tenants_are_known,
    users_have_one_tenant,
    tenants_do_not_overlap,
    tenants_can_be_used,
    allowed_users_can_exist,
)
