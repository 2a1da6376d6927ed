"""The rules on files that config.yaml names and on packages that it needs, for `check`, start and reload alike.

Each is in the room of the feature that it judges, with the libraries for it: these are imported only for a file that it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from service.clients.rules.keys_and_secrets import secrets_of
from service.config.judge import FileRule
from service.config.named_files import find_folder_problem
from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile


def _has_own_keys(file: ConfigurationFile) -> bool:
    return file.signing.source == "files"


def _has_keys_to_verify_by(file: ConfigurationFile) -> bool:
    return bool(file.signing.verify_only)


def _authenticates_by_keys(file: ConfigurationFile) -> bool:
    return any(provider.private_key for provider in file.identity_providers)


def _names_certificates(file: ConfigurationFile) -> bool:
    admin_tls = file.admin.tls if file.admin else None
    named = (file.server.tls, admin_tls, file.outgoing.ca_file, file.mtls.client_ca)
    return any(named) or bool(urlsplit(file.store.url).query)


def _has_languages(file: ConfigurationFile) -> bool:
    return {*file.ui.locales, file.ui.default_locale} != {"en"}


def _has_templates(file: ConfigurationFile) -> bool:
    return file.ui.templates is not None and find_folder_problem(file.ui.templates) is None


def _has_colours(file: ConfigurationFile) -> bool:
    return any(look.accent or look.background for look in file.looks.values())


def _has_users_elsewhere(file: ConfigurationFile) -> bool:
    return file.users.source != "file"


def _has_slow_secrets(file: ConfigurationFile) -> bool:
    return any(secret.hash is not None for _, secret in secrets_of(file))


def _has_users(file: ConfigurationFile) -> bool:
    return bool(file.users.list)


_RULES: tuple[tuple[Callable[[ConfigurationFile], bool], str], ...] = (
    (_has_own_keys, "keys.key_source:key_files_hold_keys"),
    (_has_keys_to_verify_by, "keys.verify_only:keys_to_verify_by_are_public"),
    (_authenticates_by_keys, "keys.key_source:provider_keys_can_sign"),
    (_names_certificates, "start.certificates:certificate_fits_its_key"),
    (_names_certificates, "start.certificates:further_authorities_can_be_trusted"),
    (_names_certificates, "start.certificates:client_authorities_can_be_trusted"),
    (_names_certificates, "start.certificates:store_certificates_can_be_used"),
    (_has_languages, "web.pages.locales:languages_have_messages"),
    (_has_templates, "web.pages.templates:own_templates_compile"),
    (_has_templates, "web.pages.locales:own_messages_can_be_read"),
    (_has_colours, "web.pages.colours:colours_are_readable"),
    (_has_users_elsewhere, "identity.sources:users_can_be_asked"),
    (_has_users, "identity.hashing:hashes_can_be_verified"),
    (_has_slow_secrets, "identity.hashing:secrets_can_be_verified"),
)
"""Which file a rule concerns, and its module and name. To add one: the rule in the room of its feature, and a line here."""


def _import_late(concerns: Callable[[ConfigurationFile], bool], rule: str) -> FileRule:
    module, _, name = rule.partition(":")

    def judge(file: ConfigurationFile) -> Iterable[Finding]:
        if not concerns(file):
            return ()
        judge_file: Any = getattr(import_module(f"service.{module}"), name)
        findings: Iterable[Finding] = judge_file(file)
        return findings

    return judge


START_RULES = tuple(_import_late(concerns, rule) for concerns, rule in _RULES)
