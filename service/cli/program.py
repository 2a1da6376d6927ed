"""The commands of the program, one file each."""

from __future__ import annotations

import click

from service.cli.check import check
from service.cli.diff import diff
from service.cli.explain import explain
from service.cli.grants import grants
from service.cli.hash_password import hash_password
from service.cli.hash_secret import hash_secret
from service.cli.keys import keys
from service.cli.new_key import new_key
from service.cli.schema import schema
from service.cli.serve import serve
from service.cli.sessions import sessions

program = click.Group(
    help="An OAuth 2.0 and OpenID Connect token service.\n\nExit codes: 0 done, 1 the input is wrong, 2 usage, "
    "3 the store cannot be reached.",
    context_settings={"help_option_names": ["-h", "--help"]},
    commands=(  # To add one: a file beside this one, and a line below.
        serve,
        check,
        schema,
        hash_secret,
        hash_password,
        new_key,
        diff,
        keys,
        explain,
        sessions,
        grants,
    ),
)
