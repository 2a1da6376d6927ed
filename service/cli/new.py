"""`new`: prints entries for config.yaml, of a client with all that is needed to use it, and of a user with the hash of a password."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast
from uuid import uuid4

import click
import yaml

from service.cli import draft as drafts
from service.cli.draft import FRAMEWORKS, KINDS, SIGNS_IN, Draft, has_snippet
from service.cli.secrets import make_secret, read_password
from service.cli.settings import file_option, load_settings
from service.config.configuration import Configuration
from service.config.judge import judge
from service.config.problem import Finding
from service.config.reading.values import Value
from service.identity import hashing
from service.model.user import fold_username
from service.start.rules import file_rules

_BEHIND_NGINX = "/oauth2/callback"
"""The path of oauth2-proxy that gets the answer of a sign-in."""


@click.group("new")
def new() -> None:
    """Make an entry for the configuration file.

    \b
    Example:
      token-service new client
    """


@new.command("client")
@click.option("--kind", type=click.Choice([*KINDS]), help="What the entry is for.")
@click.option("--name", help="The name that users see; the client_id is made of it.")
@click.option(
    "--framework", type=click.Choice([*FRAMEWORKS, "none"]), help="The framework to print code for."
)
@click.option("--redirect-uri", help="The URL that gets the answer of a sign-in.")
@click.option("--scopes", help="The scopes that it may use, with spaces between them.")
@file_option
def client(  # noqa: PLR0917 - click calls it by name
    kind: str | None,
    name: str | None,
    framework: str | None,
    redirect_uri: str | None,
    scopes: str | None,
    file: Path,
) -> None:
    """Print an entry for a new client or API.

    Asks up to five questions. Standard output has the YAML only. The secret, which is shown once and not kept, requests that
    try the client, and code for a framework go to standard error. An option answers its question
    in advance; what is left is asked, or read from standard input line by line.

    \b
    Example:
      token-service new client --kind web --name Shop --framework fastapi \\
        --redirect-uri https://shop.example.com/callback --scopes "openid profile" > clients.d/shop.yaml
    """
    settings = load_settings(file)
    if kind is None:
        for each, what in KINDS.items():
            click.echo(f"  {each:<8} {what}", err=True)
        kind = _ask("--kind", "What is it?", "web", click.Choice([*KINDS]))
    name = name or _ask("--name", "What is its name?")
    framework = _framework(kind, framework)
    if kind in SIGNS_IN and not redirect_uri:
        usual = drafts.REDIRECT_URIS.get(framework)
        redirect_uri = _ask("--redirect-uri", "What is its redirect URI?", usual)
    if kind == "native" and redirect_uri and not redirect_uri.startswith("http:"):
        framework = "none"  # the code is for a loopback address
    scopes = scopes or _ask("--scopes", *_scope_question(kind, name, settings))
    algorithm = _algorithm(framework, settings)
    draft = Draft(
        kind=kind,
        name=name,
        framework=framework,
        scopes=tuple(dict.fromkeys(scopes.replace(",", " ").split())),
        redirect_uri=redirect_uri if redirect_uri and kind in SIGNS_IN else "",
        issuer=settings.issuer.rstrip("/"),
        secret=make_secret(),
        algorithm=None if algorithm == settings.signing.algorithms[0] else algorithm,
    )
    _require_sound(draft, settings)
    _print(draft, algorithm=algorithm)


def _algorithm(framework: str, settings: Configuration) -> str:
    """Return the algorithm of ID tokens: ES256 if the service has it, but for a library that knows RS256 only."""
    preferred = "RS256" if framework == "spring" else "ES256"
    known = settings.signing.algorithms
    return preferred if preferred in known else known[0]


def _framework(kind: str, given: str | None) -> str:
    """Return the framework that code is printed for; where people sign in without a server there is one."""
    if kind in ("spa", "native"):
        return "browser" if kind == "spa" else "loopback"
    known = [each for each in FRAMEWORKS if has_snippet(kind, each)]
    choice = click.Choice([*known, "none"])
    if given is None:
        return _ask("--framework", "Which framework does it use?", known[0], choice)
    if given not in choice.choices:
        raise click.UsageError(f"there is no code for {kind} in {given}: {', '.join(known)}")
    return given


def _scope_question(kind: str, name: str, settings: Configuration) -> tuple[str, str | None]:
    if kind == "api":
        return "Which scopes does it understand?", drafts.identifier_of(name)
    apis = sorted(settings.registry.api_scopes)
    if kind == "machine":
        question = f"Which scopes may it have ({', '.join(apis)})?"
        return question, apis[0] if apis else None
    known = ", ".join((*settings.registry.identity_resources, *apis))
    return f"Which scopes ({known}; offline_access for refresh tokens)?", "openid profile"


def _ask(
    option: str, question: str, usual: str | None = None, choice: click.Choice[str] | None = None
) -> str:
    """Ask on standard error, because standard output may go to a file."""
    try:
        return str(click.prompt(question, default=usual, type=choice, err=True))
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.UsageError(f"{option} is missing") from None


def _require_sound(draft: Draft, settings: Configuration) -> None:
    """Refuse what `check` would refuse of the entry together with the configuration file."""
    if not draft.identifier or not draft.scopes:
        raise click.UsageError("the name needs a letter or a digit, and there has to be a scope")
    if draft.kind == "machine" and not {*draft.scopes} <= settings.registry.api_scopes.keys():
        known = ", ".join(sorted(settings.registry.api_scopes)) or "none yet"
        raise click.ClickException(f"scopes: a program gets tokens for APIs only (known: {known})")
    behind_nginx = draft.kind == "web" and draft.framework == "nginx"
    if behind_nginx and not draft.redirect_uri.endswith(_BEHIND_NGINX):
        raise click.ClickException(f"redirect_uris: behind nginx it ends in {_BEHIND_NGINX}")
    for finding in _findings(draft, settings):
        path = ".".join(map(str, finding.location[2:]))
        line = f"{path}: {finding.message}" + (f" ({finding.hint})" if finding.hint else "")
        if finding.severity == "error":
            raise click.ClickException(line)
        click.echo(f"Warning: {line}", err=True)


def _findings(draft: Draft, settings: Configuration) -> list[Finding]:
    """Judge the draft's entry behind the entries of the configuration."""
    registry = settings.registry
    entries: dict[str, list[Value]] = {
        "api_resources": [
            {"name": api.name, "scopes": [*sorted(api.scopes)]}
            for api in registry.api_resources.values()
        ],
        "clients": [
            {"client_id": client_id, "require_client_secret": False}
            for client_id in registry.clients
        ],
        "identity_resources": [{"name": name} for name in registry.identity_resources],
    }
    at = (draft.section, len(entries[draft.section]))
    entries[draft.section].append(cast("Value", draft.entry()))
    signing: Value = {"algorithms": [*settings.signing.algorithms]}
    values: dict[str, Value] = {"issuer": settings.issuer, "signing": signing, **entries}
    _, findings = judge(values, file_rules(settings.catalogue), replaced={}, directory=Path())
    return [finding for finding in findings if finding.location[:2] == at]


def _print(draft: Draft, *, algorithm: str) -> None:
    paste = f"# For config.yaml. Where it has {draft.section}: already, paste the lines below that."
    click.echo(f"{paste}\n", err=True)
    click.echo(draft.yaml())
    click.echo("# Check the file and reload the service (SIGHUP). Then, in a shell:", err=True)
    click.echo(draft.requests(), err=True)
    if has_snippet(draft.kind, draft.framework):
        click.echo(f"\n{draft.snippet(algorithm=algorithm)}", err=True, nl=False)


@new.command("user")
@click.argument("username")
@click.option("--name", help="The name that pages and applications show.")
@click.option("--email", help="The e-mail address, which you have verified.")
@click.option(
    "--sub", help="The subject identifier, which must never change.  [default: a new one]"
)
@click.option("--group", "groups", multiple=True, help="A value of the claim groups.")
@file_option
def user(  # noqa: PLR0917 - click calls it by name
    username: str,
    name: str | None,
    email: str | None,
    sub: str | None,
    groups: tuple[str, ...],
    file: Path,
) -> None:
    """Print an entry for a new user.

    The password is read from standard input, or asked for; only its hash is printed.

    \b
    Example:
      token-service new user carol --name "Carol Doe" --email carol@example.com
    """
    settings = load_settings(file)
    _require_free(settings, username, sub)
    password = hashing.hash_password(read_password())
    claims: dict[str, object] = {"name": name, "email": email}
    claims |= {"email_verified": True if email else None, "groups": list(groups) or None}
    known = {claim: value for claim, value in claims.items() if value is not None}
    entry = {"sub": sub or str(uuid4()), "username": username, "password": password}
    users = {"users": {"list": [entry | ({"claims": known} if known else {})]}}
    click.echo(
        "# For config.yaml. Where it has users.list already, paste the entry there.", err=True
    )
    text = yaml.safe_dump(users, sort_keys=False, allow_unicode=True, width=1000)
    click.echo(text.replace("${", "$${"), nl=False)
    click.echo("# Check the file, and reload the service (SIGHUP).", err=True)


def _require_free(settings: Configuration, username: str, sub: str | None) -> None:
    source = settings.users.source
    if source != "file":
        raise click.ClickException(f"users.source is {source}: new users are made there")
    for known in settings.registry.users:
        if fold_username(known.username) == fold_username(username):
            raise click.ClickException(f"{known.username} is the name of a user already")
        if known.sub == sub:
            raise click.ClickException(f"{sub} is the sub of a user already")
