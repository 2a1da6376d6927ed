"""The section on users: the list in the file, or the system that they come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from service.config.schema.ldap import Ldap
from service.model import marks, types
from service.model.user import User

SOURCES: Mapping[str, str] = {
    "http": "service.identity.sources.http",
    "ldap": "service.identity.sources.ldap",
    "sql": "service.identity.sources.sql",
}
"""By `users.source`: the module that asks that system, which is imported only where it is configured.

It has `find_problems(settings)` for `check`, and `open_source(settings, tools)`
(service/identity/sources/__init__.py). Its settings are the field of `Users` that has the same name.
"""


def _source(value: str) -> str:
    if value != "file" and value not in SOURCES and ":" not in value:
        raise marks.expected(
            f"{', '.join(['file', *SOURCES])}, or the import path of a UserStore such as "
            "my_package.users:MyUsers"
        )
    return value


class HttpUsers(marks.Confidential, frozen=True, kw_only=True):
    """A service of yours that knows the users, and verifies their passwords; docs/users.md describes its two requests."""

    find_url: types.WebUrl
    """The URL that finds a user by user name, subject or e-mail address."""
    verify_url: types.WebUrl
    """The URL that verifies a password."""
    bearer_token: Annotated[str, marks.SECRET] = ""
    """A secret that is sent with each request as `Authorization: Bearer`, such as ${file:/run/secrets/users}. Give this, a
    certificate, or both."""
    identities: bool = False
    """true: your service knows who its users are at identity providers, and is asked so at each sign-in there (docs/users.md)."""
    certificate: types.FilePath | None = None
    """A file with the certificate that this service shows to yours (mutual TLS), PEM. It is read again when it has changed."""
    private_key: types.FilePath | None = None
    """A file with the private key of the certificate, PEM; null: it is in the same file."""


class SqlColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of users.sql.table; instead of a column's name any SQL expression may be written."""

    sub: types.Text = "sub"
    """The user's identifier, which never changes, such as the primary key."""
    username: types.Text = "username"
    """The name to sign in with."""
    password: types.Text | None = "password"
    """The hash of the password; null: nobody signs in by password."""
    enabled: types.Text | None = "enabled"
    """Whether the user may sign in and use tokens, such as is_active or deleted_at IS NULL; null: everybody may."""


class SqlQueries(msgspec.Struct, frozen=True, kw_only=True):
    """Queries of your own, instead of those that are made from the table and its columns.

    Each returns the columns sub, username, password and enabled; all others are claims, and one with the name claims is a JSON
    object of claims. Values come as parameters such as :sub.
    """

    by_subject: types.Query | None = None
    """The user with the identifier :sub."""
    by_username: types.Query | None = None
    """The user with the name :username, which is in lower case (Unicode NFKC, case-folded), or in one of the spellings of the list
    :usernames, as in LOWER(login) IN :usernames. A row counts only if one of its columns is this name, so that a database that ignores
    accents does not accept other names."""
    by_email: types.Query | None = None
    """The user with the verified email address :email, which is in lower case, or in the spellings of the list :emails."""
    by_identity: types.Query | None = None
    """The user with :subject at the identity provider :provider. Its columns identity_provider and identity_subject say so, and are not
    claims; a row counts only where they are exactly these, in upper and lower case, too."""
    list_users: types.Query | None = None
    """At most :limit users whose name begins with :prefix, which is in lower case and has a % at its end, by their names.
    :prefix_1 to :prefix_7 are other spellings of it."""
    replace_password: types.Query | None = None
    """Writes the hash :password of the user :sub, if the present one is still :old. It replaces hashes in old formats."""
    set_enabled: types.Query | None = None
    """Writes :enabled, true or false, of the user :sub."""


class SqlUsers(marks.Confidential, frozen=True, kw_only=True):
    """The users of an SQL database, for source: sql."""

    url: Annotated[types.Text, marks.SECRET]
    """The database, as SQLAlchemy writes it with an asynchronous driver: postgresql+asyncpg://name:password@host/database,
    mysql+asyncmy://…, sqlite+aiosqlite:////folder/file. Options of the driver follow behind a question mark."""
    password: Annotated[types.Text | None, marks.SECRET] = None
    """The password, as it is, such as ${file:/run/secrets/users}: in the URL it would have to be percent-encoded."""
    table: types.Text | None = None
    """The table or view with the users; null: the queries below find them."""
    columns: SqlColumns = SqlColumns()
    """The columns of the table."""
    claims: dict[types.Text, types.Text] = msgspec.field(default_factory=dict)
    """The columns, or SQL expressions, of claims: {name: full_name, email: email, email_verified: confirmed_at IS NOT NULL}."""
    identities: dict[types.ShortName, types.Text] = msgspec.field(default_factory=dict)
    """Identity providers, and the columns, or SQL expressions, that have the subjects of users there as text, such as {google: google_sub}:
    a sign-in at the provider by this subject is one of the user."""
    queries: SqlQueries = SqlQueries()
    """Queries instead of those that are made from the table and its columns."""
    sub_type: Literal["text", "integer", "uuid"] = "text"
    """The type of the column of sub. Some drivers do not compare a number with a text."""
    writable: bool = False
    """true: the table's password column may be written, to replace a hash in an old format after a sign-in, and its enabled column,
    to disable users on the command line."""
    pool_size: Annotated[int, msgspec.Meta(ge=1)] = 5
    """The connections that a process keeps open."""
    max_overflow: Annotated[int, msgspec.Meta(ge=0)] = 5
    """The connections that it may open beyond these while many are in use."""
    pool_recycle: types.Lifetime = 1800
    """How old a connection may become; less than the time after which the database or a firewall closes idle ones."""


class Users(msgspec.Struct, frozen=True, kw_only=True):
    """The users of this service itself, and how long another system that knows them may take to answer."""

    source: Annotated[str, marks.After(_source)] = "file"
    """file: the list below; sql: a database; ldap: a directory; http: a service of yours; or the import path of a UserStore."""
    sql: SqlUsers | None = None
    """The database, for source: sql."""
    timeout: types.Timeout = 2
    """The longest time to wait for the system that the users come from. After that, and as long as it does not answer, a request
    that needs it gets the status 503."""
    max_concurrent: Annotated[int, msgspec.Meta(ge=1)] = 20
    """How many requests a process sends to that system at once; more wait for their turn."""
    cache: types.Duration = 0
    """How long what that system said of a user counts without being asked again, when a token is used. A user that is disabled there
    keeps active tokens for that long. 0s: it is asked each time."""
    grace: types.Duration = 0
    """While that system does not answer, tokens of a user stay active if it was seen enabled at most so long ago: for introspection,
    userinfo and refresh tokens, and with the claims that it had then. Nobody can sign in meanwhile. A user that is disabled in
    that time is noticed once the system answers again. 0s: such requests get the status 503."""
    http: HttpUsers | None = None
    """The service of yours, for source: http."""
    ldap: Ldap | None = None
    """The directory, for source: ldap."""
    notifier: types.PluginName | None = None
    """Who tells users that their second factors were changed: the import path of a class of your own, such as
    my_package.mail:MyNotifier. null: nobody; the audit log has every change."""
    list: tuple[User, ...] = ()
    """The users, for source: file."""
    sign_in_by_email: bool = False
    """true: a user of the list may sign in by the e-mail address in the claim `email`, too, verified or not, if no other user has it.
    What names other sources accept says their own configuration, such as `users.sql.queries.by_username`."""
