"""Finds the APIs for which each client may get tokens, with their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.takeover.found import Found
from service.takeover.keycloak.claims import FixedClaim, put
from service.takeover.keycloak.clients import BUILT_IN, FoundClient
from service.takeover.keycloak.export import RealmMembers
from service.takeover.keycloak.mappers import Mapped
from service.takeover.keycloak.roles import Roles
from service.takeover.keycloak.scopes import OFFLINE, Apis, Scopes, add_scopes
from service.takeover.keycloak.users import read_person
from service.takeover.node import Misplaced, Node, quoted

MAX_PAIRS = 100_000
"""Clients times APIs that are allowed because users have roles there."""
OPENID = "openid"


class Access:
    """Puts clients, scopes and APIs together."""

    def __init__(
        self,
        scopes: Scopes,
        roles: Roles,
        receivers: Mapping[str, tuple[str, object]],
        members: RealmMembers,
        found: Found,
    ) -> None:
        """Take what was read; `receivers` are clients that may introspect."""
        self._scopes, self._roles, self._receivers = scopes, roles, receivers
        self._members, self._found = members, found
        self._apis = Apis(scopes)

    def add(self, clients: Sequence[FoundClient]) -> None:
        """Add the clients, the APIs and the scope values to what was found."""
        self._add_receivers(clients)
        allowed = {client.client_id: self._allowed_scopes(client) for client in clients}
        self._allow_by_roles(clients, allowed)
        for_users = [client for client in clients if client.is_for_users]
        in_id = _common([self._unasked(each, "in_id_token") for each in for_users])
        in_access = _common([self._unasked(each, "in_access_token") for each in for_users])
        accounts = self._service_accounts()
        for client in clients:
            self._report_default_scopes(client, in_id)
            entry = client.entry | self._claims(client, accounts.get(client.client_id))
            entry["allowed_scopes"] = sorted(allowed[client.client_id])
            self._found.add("clients", client.place, entry, client.places)
            self._add_exchange(client, allowed[client.client_id])
        add_scopes(
            self._scopes,
            self._apis,
            self._found,
            used={value for values in allowed.values() for value in values},
            in_every_id_token=in_id,
            in_every_access_token=in_access,
        )

    def _add_receivers(self, clients: Sequence[FoundClient]) -> None:
        """Make APIs of clients that have roles or only receive tokens, with the secrets by which they introspect."""
        taken = {client.client_id for client in clients}
        with_roles = self._roles.clients - BUILT_IN
        for name, (place, secrets) in self._receivers.items():
            is_audience = name in self._apis.by_name or name in with_roles or name not in taken
            if is_audience and name not in BUILT_IN:
                self._apis.add(name, place).secrets = secrets
        for name in sorted(with_roles & taken):
            self._apis.add(name, "roles.client")

    def _allowed_scopes(self, client: FoundClient) -> set[str]:
        names = {*client.default_scopes, *client.optional_scopes} - {OFFLINE}
        allowed = {name for name in names if name in self._scopes.by_name}
        for name in sorted(names - allowed):
            message = (
                f"the client scope {quoted(name)} is not in the export, or not of OpenID Connect"
            )
            self._found.report.leave_out(client.place, message, "export client scopes, too")
        if client.is_for_users:
            allowed.add(OPENID)
        for audience, place in client.mapped.audiences.items():
            self._apis.add(audience, place)
            values = self._apis.default_scopes(audience)
            allowed |= values
            message = f"tokens are for {quoted(audience)} if the application asks for {', '.join(map(quoted, sorted(values)))}"
            self._found.report.change(place, message)
        return allowed

    def _allow_by_roles(
        self, clients: Sequence[FoundClient], allowed: Mapping[str, set[str]]
    ) -> None:
        """Let clients ask for the APIs whose roles users have, where a scope of the client resolves audiences."""
        apis = sorted((self._roles.clients - BUILT_IN) & self._apis.by_name.keys())
        resolving = [
            client for client in clients if client.has_full_scope and self._resolves(client)
        ]
        if not apis or not resolving:
            return
        if len(apis) * len(resolving) > MAX_PAIRS:
            remedy = "give the clients the scopes of the APIs that they call"
            self._found.report.leave_out(
                "roles.client", "APIs by roles: there are too many", remedy
            )
            return
        message = "an application gets a token for the clients whose roles the user has if it asks for a scope of theirs"
        self._found.report.change("roles.client", message)
        for client in resolving:
            for name in apis:
                if name != client.client_id:
                    allowed[client.client_id].update(self._apis.default_scopes(name))

    def _resolves(self, client: FoundClient) -> bool:
        scopes = self._scopes.mapped([*client.default_scopes, *client.optional_scopes])
        return any(mapped.resolves_audience for mapped in (*scopes, client.mapped))

    def _unasked(self, client: FoundClient, which: str) -> set[str]:
        """Return the names of the claims that tokens of the client have without being asked for."""
        known = (*self._scopes.mapped(client.default_scopes), client.mapped)
        return {name for mapped in known for name in getattr(mapped, which)}

    def _report_default_scopes(self, client: FoundClient, in_id: set[str]) -> None:
        if not client.is_for_users:
            return
        defaults = [name for name in client.default_scopes if name in self._scopes.by_name]
        late = [
            name
            for name in defaults
            if not in_id.issuperset(self._scopes.by_name[name].mapped.in_id_token)
            or self._scopes.by_name[name].mapped.audiences
        ]
        if late:
            names = ", ".join(map(quoted, sorted(late)))
            message = f"these scopes come only if the application asks for them: {names}"
            self._found.report.change(f"{client.place}.defaultClientScopes", message)
        own = sorted({*client.mapped.in_id_token, *client.mapped.in_access_token} - in_id)
        if own:
            names = ", ".join(map(quoted, own))
            message = f"claims of mappers of the client's own: {names}"
            remedy = "add them to user_claims of a scope that the client asks for, or of its API"
            self._found.report.leave_out(f"{client.place}.protocolMappers", message, remedy)

    def _service_accounts(self) -> dict[str, Node]:
        return {
            str(node.peek("serviceAccountClientId")): node
            for node in self._members.service_accounts
        }

    def _claims(self, client: FoundClient, account: Node | None) -> dict[str, object]:
        """Return the fixed claims of a client, and in its own name those of its roles."""
        inherited = self._scopes.mapped(client.default_scopes)
        fixed = [claim for mapped in (*inherited, client.mapped) for claim in mapped.fixed]
        of_roles: dict[str, object] = {}
        if "client_credentials" in client.grant_types:
            message = "the `sub` of its own tokens is the client_id, no longer the id of its service account"
            self._found.report.change(client.place, message)
            if account is not None:
                of_roles = self._claims_of_account(account, inherited)
        return _client_claims(client, fixed, of_roles, self._found)

    def _claims_of_account(self, account: Node, inherited: Sequence[Mapped]) -> dict[str, object]:
        claims: dict[str, object] = {}
        try:
            person = read_person(account, self._roles)
        except Misplaced as error:
            self._found.report.leave_out(error.place, error.reason, "mend it in the export")
            return claims
        for mapped in inherited:
            for claim in mapped.of_roles:
                for path, value in claim.compute(person):
                    put(claims, path, value)
        return claims

    def _add_exchange(self, client: FoundClient, allowed: set[str]) -> None:
        if not client.exchanges:
            return
        audiences = sorted(
            name
            for name in self._apis.by_name
            if not allowed.isdisjoint(self._apis.default_scopes(name))
        )
        if client.client_id not in self._apis.by_name:
            message = "it exchanges tokens of others for its own, and is the audience of none"
            remedy = "write a rule of token_exchange with subject_audience"
            self._found.report.leave_out(client.place, message, remedy)
            return
        rule: Mapping[str, object] = {
            "clients": [client.client_id],
            "actor": "none",
            "scopes": sorted(allowed & self._apis.scope_values),
            "audiences": audiences,
        }
        self._found.add("token_exchange", client.place, rule)


def _common(sets: Sequence[set[str]]) -> set[str]:
    return set[str].intersection(*sets) if sets else set[str]()


def _client_claims(
    client: FoundClient, fixed: Sequence[FixedClaim], of_roles: dict[str, object], found: Found
) -> dict[str, object]:
    """Return the keys for claims; those of the client's own roles never come into tokens of users."""
    if not fixed and not of_roles:
        return {}
    claims = dict(of_roles)
    for claim in fixed:
        put(claims, claim.path, claim.value)
    keys: dict[str, object] = {"claims": claims, "client_claims_prefix": ""}
    if fixed and client.is_for_users:
        if of_roles:
            message = (
                "fixed claims come into the client's own tokens only, because it has roles, too"
            )
            found.report.change(client.place, message)
        else:
            keys["always_send_client_claims"] = True
    return keys
