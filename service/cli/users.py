"""`users`: shows people, disables and unlocks them, resets their second factors, and ends everything of a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import click
import msgspec

from service.cli.person import Person, pass_person, refuse_stranger
from service.cli.settings import pass_settings
from service.cli.shared_store import on_store, with_shared
from service.cli.table import format_option, print_json, print_table
from service.config.configuration import Configuration
from service.events.users import UserDisabled, UserEnabled
from service.identity.ending import EndedAccess
from service.identity.factors.stored import methods_of
from service.identity.passwords import usable_hash
from service.model.password_hash import is_outdated
from service.model.user import User, fold_username
from service.wiring.shared import Shared

T = TypeVar("T")
_COLUMNS = ("sub", "username", "enabled", "password")


@click.group("users")
def users() -> None:
    """Show users, disable and unlock them, and end what they have.

    \b
    Example:
      token-service users show alice
    """


@users.command("list")
@click.option("--prefix", default="", help="The beginning of the user names.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="How many are printed at most; the command says where there are more.",
)
@pass_settings
@format_option
def list_users(settings: Configuration, prefix: str, limit: int, output: str) -> None:
    """Print the first users by name, with the kind of hash that their password has.

    \b
    Example:
      token-service users list --prefix al
    """

    async def find_users(shared: Shared) -> list[dict[str, object]]:
        # One more, to know whether that is all.
        found = await shared.users.list_users(fold_username(prefix), limit + 1)
        return [_summary(user) for user in found]

    found = _with_users(settings, find_users)
    if len(found) > limit:
        found = found[:limit]
        click.echo("there are more; give a longer --prefix or a higher --limit", err=True)
    if output == "json":
        print_json(found)
    else:
        cells = [[_cell(user[name]) for name in _COLUMNS] for user in found]
        print_table([[name.upper() for name in _COLUMNS], *cells])


@users.command("show")
@pass_person
@format_option
def show(settings: Configuration, person: Person, output: str) -> None:
    """Print a user, the claims, the second factors, and how many sessions and grants there are.

    \b
    Example:
      token-service users show alice --format json
    """

    async def describe_user(shared: Shared) -> dict[str, object]:
        user = await person.find(shared.users)
        facts = _summary(user) | {"claims": user.claims}
        if settings.store.url.startswith("memory:"):
            return facts
        factors = await shared.factors.find(user.sub)
        return facts | {
            "second_factors": methods_of(factors),
            "recovery_codes": len(factors.recovery_codes),
            "sessions": len(await shared.sessions.find_all_of(user.sub)),
            "grants": len(await shared.authorizations.find_all_of(user.sub)),
            "consents": len(await shared.consents.find_all_of(user.sub)),
        }

    found = _with_users(settings, describe_user)
    if output == "json":
        print_json(found)
    else:
        print_table([[name.replace("_", " "), _cell(value)] for name, value in found.items()])


@users.command("disable")
@pass_person
def disable(settings: Configuration, person: Person) -> None:
    """Disable a user where users.source can be written: nobody signs in, and tokens are inactive.

    \b
    Example:
      token-service users disable mallory
    """
    click.echo(f"disabled: {_set_enabled(settings, person, enabled=False)}")


@users.command("enable")
@pass_person
def enable(settings: Configuration, person: Person) -> None:
    """Enable a user again; tokens that have not expired are active again.

    \b
    Example:
      token-service users enable alice
    """
    click.echo(f"enabled: {_set_enabled(settings, person, enabled=True)}")


@users.command("reset-factors")
@pass_person
def reset_factors(settings: Configuration, person: Person) -> None:
    """Remove all second factors and recovery codes of a person, for example after the loss of a phone.

    Make sure that this person asks for it: the password alone is enough to enrol new ones afterwards.

    \b
    Example:
      token-service users reset-factors alice
    """

    async def reset(shared: Shared) -> str:
        subject = await person.find_subject(shared.users)
        methods = await shared.ending.remove_factors(subject)
        if not methods:
            await refuse_stranger(shared, subject)
        return ", ".join(methods) or "none"

    click.echo(f"second factors removed: {_with_users(settings, reset, needs_store=True)}")


@users.command("unlock")
@pass_person
def unlock(settings: Configuration, person: Person) -> None:
    """Forget the wrong passwords and codes of a person, who can sign in again at once.

    \b
    Example:
      token-service users unlock alice
    """

    async def forget_failures(shared: Shared) -> str:
        subject = await person.find_subject(shared.users)
        await refuse_stranger(shared, subject)
        await shared.ending.unlock(subject)
        return subject

    click.echo(f"unlocked: {_with_users(settings, forget_failures, needs_store=True)}")


@users.command("end")
@pass_person
def end(settings: Configuration, person: Person) -> None:
    """End everything of a person: consents, sessions, and all tokens, those with offline access too.

    Clients get logout tokens for the ended sessions, and for former ones from which they have grants. The user may
    sign in again; `users disable` prevents that.

    \b
    Example:
      token-service users end --subject 818727
    """

    async def end_all(shared: Shared) -> EndedAccess:
        subject = await person.find_subject(shared.users)
        ended = await shared.user_ending.end(subject)
        if not any(msgspec.structs.astuple(ended)):
            await refuse_stranger(shared, subject)
        return ended

    ended = _with_users(settings, end_all, needs_store=True)
    click.echo(
        f"sessions ended: {ended.sessions}; grants revoked: {ended.grants}; consents withdrawn: {ended.consents}"
    )


def _set_enabled(settings: Configuration, person: Person, *, enabled: bool) -> str:
    async def write(shared: Shared) -> str:
        user = await person.find(shared.users)
        await shared.users.set_enabled(user.sub, enabled=enabled)
        shared.emit((UserEnabled if enabled else UserDisabled)(subject=user.sub))
        return f"{user.username} ({user.sub})"

    return _with_users(settings, write)


def _with_users(
    settings: Configuration,
    work: Callable[[Shared], Awaitable[T]],
    *,
    needs_store: bool = False,
) -> T:
    """Run work with the users; only work on their records needs a store that other processes reach."""

    async def run(shared: Shared) -> T:
        try:
            return await work(shared)
        except NotImplementedError as error:
            raise click.ClickException(str(error)) from error

    return (on_store if needs_store else with_shared)(settings, run)


def _summary(user: User) -> dict[str, object]:
    """Return what a list shows; of the password only the kind of its hash."""
    known = usable_hash(user.password)
    kind = None if known is None else f"{known.scheme}{' (old)' if is_outdated(known) else ''}"
    return {"sub": user.sub, "username": user.username, "enabled": user.enabled, "password": kind}


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[object]", value))) or "none"
    if isinstance(value, dict):
        claims = cast("dict[str, object]", value)
        return "  ".join(f"{name}={_cell(each)}" for name, each in claims.items())
    return "" if value is None else str(value)
