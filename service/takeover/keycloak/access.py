"""Finds the APIs for which each client may get tokens, with their claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from service.takeover.found import Found
from service.takeover.keycloak.claims import put
from service.takeover.keycloak.clients import BUILT_IN, FoundClient
from service.takeover.keycloak.export import RealmMembers
from service.takeover.keycloak.mappers import Mapped
from service.takeover.keycloak.roles import Roles
from service.takeover.keycloak.scopes import OFFLINE, QUIET, Apis, Scopes, add_scopes
from service.takeover.keycloak.users import read_person
from service.takeover.node import Misplaced, Node, quoted

MAX_PAIRS = 100_000
"""Clients times APIs that are allowed because users have roles there."""
OPENID = "openid"
ACCOUNT = "account"
"""A client of the realm's own that all users have roles at, and so an audience of all tokens there."""


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
        accounts = self._service_accounts()
        for client in clients:
            inherited = self._scopes.find_mapped(client.default_scopes)
            entry = client.entry | self._own_claims(
                client, inherited, accounts.get(client.client_id)
            )
            if not client.has_full_scope:
                self._report_roles(client, inherited)
            if client.is_for_users:
                self._report_scopes(client)
                entry |= _user_claims(client, inherited, self._found)
            entry["allowed_scopes"] = sorted(allowed[client.client_id])
            added = self._added_scopes(client) & allowed[client.client_id]
            entry["added_scopes"] = sorted(added) or None
            self._found.add("clients", client.place, entry, client.places)
            self._add_exchange(client, allowed[client.client_id])
        add_scopes(
            self._scopes,
            self._apis,
            self._found,
            used={value for values in allowed.values() for value in values},
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
        for name in sorted(names - allowed - self._scopes.of_roles):
            message = (
                f"the client scope {quoted(name)} is not in the export, or not of OpenID Connect"
            )
            self._found.report.leave_out(client.place, message, "export client scopes, too")
        if client.is_for_users:
            allowed.add(OPENID)
        for audience, place in client.mapped.audiences.items():
            self._apis.add(audience, place)
            allowed |= self._apis.default_scopes(audience)
        return allowed

    def _added_scopes(self, client: FoundClient) -> set[str]:
        """Return the scope values that lead to the audiences of tokens which the client does not ask for."""
        added = {name for name in client.default_scopes if name in self._apis.scope_values}
        return added.union(*map(self._apis.default_scopes, client.mapped.audiences))

    def _allow_by_roles(
        self, clients: Sequence[FoundClient], allowed: Mapping[str, set[str]]
    ) -> None:
        """Let clients ask for the APIs whose roles users have, where a scope of the client resolves audiences."""
        apis = (self._roles.clients - BUILT_IN) & self._apis.by_name.keys()
        limited = _audiences_of_scope_mappings(self._members)
        resolving = {
            client.client_id: apis if client.has_full_scope else apis & limited[client.client_id]
            for client in clients
            if self._resolves(client)
        }
        if resolving and ACCOUNT in self._roles.clients:
            message = f"tokens are no longer for {quoted(ACCOUNT)}: an API that compares `aud` with it needs an audience of its own"
            self._found.report.change(f"roles.client.{ACCOUNT}", message)
        pairs = sum(map(len, resolving.values()))
        if pairs > MAX_PAIRS:
            remedy = "give the clients the scopes of the APIs that they call"
            self._found.report.leave_out(
                "roles.client", "APIs by roles: there are too many", remedy
            )
        elif pairs:
            message = "an application gets a token for the clients whose roles the user has if it asks for a scope of theirs"
            self._found.report.change("roles.client", message)
            for client_id, names in resolving.items():
                for name in names - {client_id}:
                    allowed[client_id].update(self._apis.default_scopes(name))

    def _resolves(self, client: FoundClient) -> bool:
        scopes = self._scopes.find_mapped([*client.default_scopes, *client.optional_scopes])
        return any(mapped.resolves_audience for mapped in (*scopes, client.mapped))

    def _report_scopes(self, client: FoundClient) -> None:
        values, known = self._apis.scope_values, self._scopes.by_name
        late = [name for name in client.default_scopes if name in known and name not in values]
        visible = sorted(set(late) - QUIET)
        if visible:
            names = ", ".join(map(quoted, visible))
            message = (
                f"the claims of these scopes come unasked, but not their names in `scope`: {names}"
            )
            self._found.report.change(f"{client.place}.defaultClientScopes", message)
        fixed = [
            name for name in client.optional_scopes if name in known and known[name].mapped.fixed
        ]
        if fixed:
            message = f"fixed claims of {', '.join(map(quoted, sorted(fixed)))}"
            remedy = (
                "add them to user_claims.values of the client, or let the application know them"
            )
            place = f"{client.place}.optionalClientScopes"
            self._found.report.leave_out(place, message, remedy)

    def _report_roles(self, client: FoundClient, inherited: Sequence[Mapped]) -> None:
        """Report that tokens have roles which they had not, where they have any."""
        mapped = (*inherited, client.mapped)
        if any(claim.is_of_roles for each in mapped for claim in each.of_users):
            place = f"{client.place}.fullScopeAllowed"
            message = "its tokens have all roles of the user, not only those of its scope"
            remedy = "let its APIs judge by roles that no other application needs, or by scope"
            self._found.report.leave_out(place, message, remedy)

    def _service_accounts(self) -> dict[str, Node]:
        return {
            str(node.peek("serviceAccountClientId")): node
            for node in self._members.service_accounts
        }

    def _own_claims(
        self, client: FoundClient, inherited: Sequence[Mapped], account: Node | None
    ) -> dict[str, object]:
        """Return the key for the claims of tokens in the client's own name: the fixed ones, and those of its service account."""
        if "client_credentials" not in client.grant_types:
            return {}
        message = (
            "the `sub` of its own tokens is the client_id, no longer the id of its service account"
        )
        self._found.report.change(client.place, message)
        mapped = (*inherited, client.mapped)
        claims = {} if account is None else self._claims_of_account(account, mapped)
        for each in mapped:
            for path in each.client_ids:
                put(claims, path, client.client_id)
            for claim in each.fixed:
                if claim.path[0] in each.in_access_token:
                    put(claims, claim.path, claim.value)
        return {"claims": claims, "client_claims_prefix": ""} if claims else {}

    def _claims_of_account(self, account: Node, inherited: Sequence[Mapped]) -> dict[str, object]:
        claims: dict[str, object] = {}
        try:
            person = read_person(account, self._roles)
        except Misplaced as error:
            self._found.report.leave_out(error.place, error.reason, "mend it in the export")
            return claims
        for mapped in inherited:
            for claim in mapped.of_users:
                if claim.name in mapped.in_access_token:
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


def _audiences_of_scope_mappings(members: RealmMembers) -> Mapping[str, set[str]]:
    """Return the clients whose roles are in the scope of a client that has not the full one, by this client."""
    found = defaultdict[str, set[str]](set)
    by_owner = members.settings.below("clientScopeMappings")
    for owner, _ in by_owner.members():
        for item in by_owner.items(owner):
            found[str(item.peek("client"))].add(owner)
    return found


def _user_claims(
    client: FoundClient, inherited: Sequence[Mapped], found: Found
) -> dict[str, object]:
    """Return the keys for claims of users that come whatever the client asks for."""
    mapped = (*inherited, client.mapped)
    values = dict[str, object]()
    of_users = {claim.name for each in mapped for claim in each.of_users}
    for claim in (claim for each in mapped for claim in each.fixed):
        if len(claim.path) > 1 and claim.path[0] in of_users:
            message = (
                f"a fixed claim within {quoted(claim.path[0])}, which users have other members of"
            )
            found.report.leave_out(client.place, message, "let the application know the value")
        else:
            put(values, claim.path, claim.value)
    keys: dict[str, object] = {
        "id_token": sorted({name for each in mapped for name in each.in_id_token}),
        "userinfo": sorted({name for each in mapped for name in each.in_userinfo}),
        "access_token": sorted({name for each in mapped for name in each.in_access_token}),
        "values": values,
        "sources": client.mapped.sources,
    }
    return {
        "user_claims": {key: value for key, value in keys.items() if value} or None,
        "always_include_user_claims_in_id_token": True,
    }
