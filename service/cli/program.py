"""The program: finds its commands in the files of this folder."""

from __future__ import annotations

from errno import ENOSPC
from importlib import import_module
from keyword import iskeyword

import click

from service.cli.importing import without_unwanted
from service.distribution import VERSION, find_commit

COMMANDS = {  # To add one: a function of its name in a file of this folder, and a line here.
    "serve": ("serve", "Run the service."),
    "check": ("check", "Check a configuration file as `serve` would."),
    "schema": ("schema", "Print the JSON Schema of config.yaml."),
    "hash-secret": ("secrets", "Print the YAML line for a client's secret."),
    "hash-password": ("secrets", "Print the YAML line for a user's password."),
    "new": ("new", "Make an entry for the configuration file."),
    "new-secret": ("secrets", "Print a new secret, and its YAML line."),
    "new-key": ("secrets", "Print a new signing.encryption_key."),
    "diff": (
        "reach",
        "Print what changes if NEW replaces OLD, and who can newly get tokens for which API.",
    ),
    "graph": ("reach", "Draw which client can get tokens for which API."),
    "why": ("reach", "Say how CLIENT can get tokens for API, or what is missing."),
    "test": ("reach", "Check which client can get tokens for which API against EXPECTED."),
    "keys": ("keys", "List, rotate and retire signing keys, and encrypt anew."),
    "explain": ("explain", "Explain why a token or request is refused."),
    "users": ("users", "Show users, disable and unlock them, and end what they have."),
    "factors": ("factors", "Load second factors of another server, and count those in the store."),
    "sessions": ("sessions", "List and end the sessions of users."),
    "grants": ("sessions", "List and revoke what clients may do."),
    "import": ("takeover", "Take over from another server."),
}
"""The file of each command, and what it does, so that help needs to import none of them."""

FAMILIAR = {
    **dict.fromkeys(("validate", "lint", "verify", "config"), "check"),
    **dict.fromkeys(("run", "start", "server", "up"), "serve"),
    "version": "--version",
    **dict.fromkeys(("client", "clients", "api", "apis", "resources"), "graph' or 'new client"),
    **dict.fromkeys(("add", "create", "register", "init"), "new"),
    "user": "users",
    **dict.fromkeys(("debug", "inspect", "introspect", "decode", "token", "tokens"), "explain"),
    **dict.fromkeys(("logout", "revoke"), "sessions end' or 'grants revoke"),
    **dict.fromkeys(("rotate", "jwks"), "keys"),
    **dict.fromkeys(("key", "keygen", "generate-key"), "new-key"),
    **dict.fromkeys(("hash", "password", "passwd"), "hash-password"),
    "secret": "new-secret",
}
"""Commands of other servers, and those that do it here."""


class Commands(click.Group):
    """Imports a command only when it is run, so that no command waits for the imports of another one."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a full disk is an error with its reason."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not _is_given_a_file_too_many(error):
                raise
            message = f"{error.message}; name the configuration by --config"
            raise click.UsageError(message, error.ctx) from error
        except OSError as error:
            if error.errno != ENOSPC:
                raise
            raise click.ClickException(f"cannot write: {error.strerror}") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all commands in the order in which help shows them."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with what it does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in COMMANDS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or name those that were probably meant."""
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:
                return None
            raise _no_such_command(cmd_name, ctx)
        with without_unwanted():
            module = import_module(f"service.cli.{COMMANDS[cmd_name][0]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if iskeyword(name) else name)
        return command


def _is_given_a_file_too_many(error: click.UsageError) -> bool:
    """Return whether a command got an argument that looks like the configuration, which it takes by an option."""
    options = [] if error.ctx is None else [one.name for one in error.ctx.command.params]
    is_one_more = error.message.startswith("Got unexpected extra argument")
    return is_one_more and ".y" in error.message and "file" in options


def _no_such_command(name: str, context: click.Context) -> click.exceptions.NoSuchCommand:
    if meant := FAMILIAR.get(name.lower()):
        message = f"No such command '{name}'. Did you mean '{meant}'?"
        return click.exceptions.NoSuchCommand(name, message, ctx=context)
    return click.exceptions.NoSuchCommand(name, possibilities=COMMANDS, ctx=context)


def _show_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"token-service {VERSION} (commit {find_commit()})")
        context.exit()


program = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the commit, and exit.",
)(
    Commands(
        help="An OAuth 2.0 and OpenID Connect token service.\n\nExit codes: 0 done; 1 the input is wrong; 2 the "
        "command line is wrong; 3 the store cannot be reached.\n\n\b\nExample:\n  token-service check config.yaml",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)
