"""The claims of users that protocol mappers make, computed once, because a user has the same claims at all clients here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

import msgspec

from service.protocol.json_input import JsonRefused, parse_json
from service.takeover.keycloak.roles import MAX_NAME, Role, names_by_client
from service.takeover.node import Misplaced, Node, quoted
from service.tokens.claims import PROTOCOL_CLAIMS

_COMPONENT = re.compile(r"((?:\\.|[^\\.])+)(?:\.|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CLIENT_ID = "${client_id}"


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the realm, as mappers see one."""

    properties: Mapping[str, object]
    """`id`, `username`, `email`, `emailVerified`, `firstName`, `lastName`, where they are known."""
    attributes: Mapping[str, Sequence[str]]
    roles: frozenset[Role] = frozenset()
    groups: Sequence[str] = ()
    group_attributes: Sequence[Mapping[str, Sequence[str]]] = ()
    """Of each group, with those of the groups above it."""

    def find_values(self, attribute: str, *, aggregates: bool) -> Sequence[str]:
        """Return the values of an attribute, which a user without it has from a group, or from all groups, too."""
        own = self.attributes.get(attribute, ())
        if own and not aggregates:
            return own
        inherited = [each[attribute] for each in self.group_attributes if attribute in each]
        if not aggregates:
            return next(iter(inherited), ())
        return [*dict.fromkeys(value for values in (own, *inherited) for value in values)]


ClaimPath = tuple[str, ...]
Values = Iterator[tuple[ClaimPath, object]]
Compute = Callable[[Person], Values]


class UserClaim(msgspec.Struct, frozen=True):
    """A mapper that makes claims of a user: the first part of their path, and how they are computed."""

    name: str
    compute: Compute
    signature: tuple[str, ...]
    """The values that distinguish it from another mapper for the same claim."""

    is_nested: bool = False
    """Whether other mappers may add members to the same claim."""
    attributes: frozenset[str] = frozenset()
    """The attributes of users that it reads."""

    @property
    def is_of_roles(self) -> bool:
        """Whether it tells of roles."""
        return "role" in self.signature[0]


class FixedClaim(msgspec.Struct, frozen=True):
    """A mapper that makes a claim with a value of its own."""

    path: ClaimPath
    value: object


@lru_cache(maxsize=1000)  # there are few, and each user has those of the roles
def split_path(name: str) -> ClaimPath:
    """Return the parts of a dotted name; a backslash makes a dot one of the name."""
    return tuple(_ESCAPE.sub(r"\1", part) for part in _COMPONENT.findall(name)) or (name,)


def put(claims: dict[str, object], path: ClaimPath, value: object) -> None:
    """Put a value into nested objects; a value that is not an object is replaced."""
    for part in path[:-1]:
        below = claims.get(part)
        if not isinstance(below, dict):
            below = claims[part] = {}
        claims = cast("dict[str, object]", below)
    claims[path[-1]] = value


def convert_to_type(value: object, kind: str | None) -> object:
    """Return a value with the type that a mapper names, None where it cannot have it."""
    if not isinstance(value, str):
        return value
    if kind == "boolean":
        return value.lower() == "true"
    if kind in {"int", "long"}:
        return int(value) if re.fullmatch(r"[-+]?\d{1,18}", value) else None
    if kind == "JSON":
        try:
            return parse_json(value)
        except (JsonRefused, UnicodeError):
            return None
    return value


def user_claim(kind: str, config: Node) -> UserClaim | None:
    """Return the claims that a mapper of this kind makes of users; None if it is of another kind."""
    make = _KINDS.get(kind)
    if make is None:
        return None
    name = config.text("claim.name") or (
        "address" if make is _address else "name" if make is _full_name else ""
    )
    if not name:
        raise Misplaced(config.place, "claim.name is missing")
    path = _claim_path(name, config)
    known = {key: str(node.value) for key, node in config.members() if ".token.claim" not in key}
    return UserClaim(
        path[0],
        make(name, known),
        (kind, *sorted(f"{k}={v}" for k, v in known.items())),
        is_nested=len(path) > 1 or make is _address,
        attributes=frozenset(
            [value for key, value in known.items() if key.startswith("user.attribute")]
            + [*(_ADDRESS if make is _address else ())]
        ),
    )


def rename(claim: UserClaim, name: str) -> UserClaim:
    """Return the same claim under another name."""

    def compute(person: Person) -> Values:
        for _, value in claim.compute(person):
            yield (name,), value

    return UserClaim(name, compute, (name, *claim.signature), attributes=claim.attributes)


def fixed_claim(config: Node) -> FixedClaim:
    """Return the claim of a mapper that has its value."""
    value = convert_to_type(config.text("claim.value") or "", config.text("jsonType.label"))
    if value is None:
        raise Misplaced(config.place, "claim.value is not of the type that jsonType.label names")
    return FixedClaim(_claim_path(config.required_text("claim.name"), config), value)


def _claim_path(name: str, config: Node) -> ClaimPath:
    """Return the parts of a claim's name; raise Misplaced where no mapper here can make it."""
    path = split_path(name)
    if len(name) > MAX_NAME:
        raise Misplaced(config.place, "claim.name is longer than any claim")
    if path[0] in PROTOCOL_CLAIMS:
        reason = f"the claim {quoted(path[0])} is one that this service makes itself"
        audience = "let an audience mapper make it, and export again"
        remedy = audience if path[0] == "aud" else "let the applications read another claim"
        raise Misplaced(config.place, reason, remedy)
    return path


def _shape_values(values: Sequence[object], config: Mapping[str, str]) -> object:
    """Return one value or all of them, in the type that the mapper names."""
    kind = config.get("jsonType.label")
    made = [each for value in values if (each := convert_to_type(value, kind)) is not None]
    if not made:
        return None
    return made if config.get("multivalued") == "true" else made[0]


def _attribute(name: str, config: Mapping[str, str]) -> Compute:
    path, source = split_path(name), config.get("user.attribute", "")
    aggregates = config.get("aggregate.attrs") == "true"

    def compute(person: Person) -> Values:
        known = person.properties.get(source)
        values = person.find_values(source, aggregates=aggregates) if known is None else [known]
        value = _shape_values(values, config)
        if value is not None:
            yield path, value

    return compute


def _full_name(_: str, __: Mapping[str, str]) -> Compute:
    def compute(person: Person) -> Values:
        names = [person.properties.get(each) for each in ("firstName", "lastName")]
        full = " ".join(str(each) for each in names if each)
        if full:
            yield ("name",), full

    return compute


_ADDRESS = {
    "street": "street_address",
    "locality": "locality",
    "region": "region",
    "postal_code": "postal_code",
    "country": "country",
    "formatted": "formatted",
}


def _address(_: str, config: Mapping[str, str]) -> Compute:
    def compute(person: Person) -> Values:
        for part, claim in _ADDRESS.items():
            values = person.attributes.get(config.get(f"user.attribute.{part}", part), ())
            if values:
                yield ("address", claim), values[0]

    return compute


def _groups(name: str, config: Mapping[str, str]) -> Compute:
    path, is_full = split_path(name), config.get("full.path") == "true"

    def compute(person: Person) -> Values:
        if person.groups:
            yield path, [each if is_full else each.rpartition("/")[2] for each in person.groups]

    return compute


def _realm_roles(name: str, config: Mapping[str, str]) -> Compute:
    path, prefix = split_path(name), config.get("usermodel.realmRoleMapping.rolePrefix", "")

    def compute(person: Person) -> Values:
        names = names_by_client(person.roles).get("", [])
        value = _shape_values([prefix + each for each in names], config)
        if value is not None:
            yield path, value

    return compute


def _client_roles(name: str, config: Mapping[str, str]) -> Compute:
    only = config.get("usermodel.clientRoleMapping.clientId")
    prefix = config.get("usermodel.clientRoleMapping.rolePrefix", "")

    def compute(person: Person) -> Values:
        for client, names in names_by_client(person.roles).items():
            if client and only in (None, "", client):
                value = _shape_values([prefix + each for each in names], config)
                escaped = client.replace("\\", "\\\\").replace(".", "\\.")
                if value is not None:
                    yield split_path(name.replace(_CLIENT_ID, escaped)), value

    return compute


_KINDS: Mapping[str, Callable[[str, Mapping[str, str]], Compute]] = {
    "oidc-usermodel-attribute-mapper": _attribute,
    "oidc-usermodel-property-mapper": _attribute,
    "oidc-full-name-mapper": _full_name,
    "oidc-address-mapper": _address,
    "oidc-group-membership-mapper": _groups,
    "oidc-usermodel-realm-role-mapper": _realm_roles,
    "oidc-usermodel-client-role-mapper": _client_roles,
}


def usual_claims() -> list[UserClaim]:
    """Return the claims of every realm, for an export that has no client scopes."""
    pairs = {
        "preferred_username": "username",
        "email": "email",
        "email_verified": "emailVerified",
        "given_name": "firstName",
        "family_name": "lastName",
    }
    made = [
        UserClaim(claim, _attribute(claim, {"user.attribute": source}), (claim,))
        for claim, source in pairs.items()
    ]
    return [*made, UserClaim("name", _full_name("name", {}), ("name",))]
