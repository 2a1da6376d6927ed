"""Makes the queries of users.sql from its table and columns."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import asdict

from service.config.schema.users import SqlUsers

_PLAIN_NAME = re.compile(r'\w+(\.\w+)*|"[^"]+"|`[^`]+`')
"""A column, and no other expression: it can be written."""

PREFIXES = ("prefix", *(f"prefix_{at}" for at in range(1, 8)))
"""The parameters for the spellings of the beginning of a name; a query of the operator's has the first one."""

LISTS = ("usernames", "emails")
"""The parameters that have several spellings of one value."""


PROVIDER, SUBJECT = "identity_provider", "identity_subject"
"""The columns that say who a user is at an identity provider."""

BY_IDENTITY = "by_identity of "
"""How the names of queries begin that are made for one provider."""


def build_queries(settings: SqlUsers) -> Mapping[str, str]:
    """Return the query of each purpose that is possible, those of the operator before those of the table."""
    own = {name: query for name, query in asdict(settings.queries).items() if query is not None}
    if settings.table is None:
        return own
    return {
        **_write_selects(settings),
        **(_write_updates(settings) if settings.writable else {}),
        **own,
    }


def _write_selects(settings: SqlUsers) -> Mapping[str, str]:
    columns, claims = settings.columns, settings.claims
    facts = {
        "sub": columns.sub,
        "username": columns.username,
        "password": columns.password or "NULL",
        "enabled": columns.enabled or "1",
    }
    named = [f"{expression} AS {name}" for name, expression in facts.items()]
    # A name may be any text; what a claim is called in the row says its place.
    named += [f"{expression} AS claim_{at}" for at, expression in enumerate(claims.values())]
    shown, where = f"SELECT {', '.join(named)}", f" FROM {settings.table} WHERE "
    select = shown + where
    queries = {
        "by_subject": f"{select}{columns.sub} = :sub",
        "by_username": f"{select}LOWER({columns.username}) IN :usernames",
        "list_users": (
            f"{select}{_write_prefixes(columns.username)} ORDER BY {columns.username} LIMIT :limit"
        ),
    }
    if "email" in claims:
        queries["by_email"] = f"{select}LOWER({claims['email']}) IN :emails"
    return {**queries, **_write_identities(settings, shown, where)}


def _write_identities(settings: SqlUsers, select: str, where: str) -> Mapping[str, str]:
    return {
        f"{BY_IDENTITY}{provider}": f"{select}, {column} AS {SUBJECT}{where}{column} = :subject"
        for provider, column in settings.identities.items()
    }


def _write_prefixes(column: str) -> str:
    likes = (f"LOWER({column}) LIKE :{name} ESCAPE '!'" for name in PREFIXES)
    return f"({' OR '.join(likes)})"


def _write_updates(settings: SqlUsers) -> Mapping[str, str]:
    table, columns = settings.table, settings.columns
    at = f"WHERE {columns.sub} = :sub"
    queries = dict[str, str]()
    if columns.password is not None and _PLAIN_NAME.fullmatch(columns.password):
        queries["replace_password"] = (
            f"UPDATE {table} SET {columns.password} = :password {at} AND {columns.password} = :old"  # noqa: S608
        )
    if columns.enabled is not None and _PLAIN_NAME.fullmatch(columns.enabled):
        queries["set_enabled"] = f"UPDATE {table} SET {columns.enabled} = :enabled {at}"  # noqa: S608
    return queries
