"""All rules across fields of config.yaml; to add one, write it into a list here.

A rule is a function from the file, or from one client, to findings. Those on
files that it names, which need libraries, are listed in `service/start/checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from service.admin import rules as admin
from service.ciba import rules as ciba
from service.clients.rules import grants_and_uris as clients
from service.clients.rules import keys_and_secrets as credentials
from service.clients.rules import mutual_tls, profiles
from service.clients.workloads import rules as workloads
from service.config.judge import ClientRule, FileRule
from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.grants import extension_rules as extensions
from service.grants.token_exchange import rules as token_exchange
from service.identity import rules as users
from service.identity import trusted_issuer_rules as trusted_issuers
from service.identity.factors import rules as factors
from service.identity.providers import rules as identity_providers
from service.model.catalogue import Catalogue
from service.start import names
from service.start import settings as service
from service.tokens import details_rules as details
from service.webhooks import rules as webhooks


def client_rules(catalogue: Catalogue) -> tuple[ClientRule, ...]:
    """Return the rules for every client, registered dynamically or not."""
    return (
        clients.redirect_uris_are_safe,
        clients.grants_fit_the_client,
        clients.response_types_can_be_used,
        clients.logout_uris_are_encrypted,
        partial(credentials.auth_method_fits_the_credentials, catalogue=catalogue),
        credentials.keys_can_be_used,
        credentials.assertions_can_be_verified,
        credentials.jwks_holds_public_keys,
        credentials.symmetric_algorithms_know_the_secret,
        credentials.encryption_has_an_algorithm_and_a_key,
        mutual_tls.certificate_names_are_one,
        ciba.ciba_fits_the_client,
        partial(names.names_are_supported, catalogue=catalogue),
    )


def file_rules(catalogue: Catalogue) -> tuple[FileRule, ...]:
    """Return every rule on the file and on its clients."""
    return (
        *names.FILE_RULES,
        credentials.secrets_are_hashed_and_valid,
        users.passwords_are_hashed,
        credentials.confidential_clients_have_credentials,
        *service.FILE_RULES,
        *admin.FILE_RULES,
        *factors.FILE_RULES,
        *identity_providers.FILE_RULES,
        extensions.plugins_have_their_signatures,
        ciba.notifier_has_its_signature,
        extensions.delegation_is_for_apis,
        partial(extensions.grant_types_have_one_handler, catalogue=catalogue),
        credentials.request_objects_can_be_decrypted,
        credentials.all_clients_can_sign,
        credentials.api_resources_can_decrypt,
        *details.FILE_RULES,
        *trusted_issuers.FILE_RULES,
        *workloads.FILE_RULES,
        *token_exchange.FILE_RULES,
        *users.FILE_RULES,
        profiles.clients_meet_their_profiles,
        ciba.ciba_settings_fit,
        webhooks.webhooks_can_be_used,
        *mutual_tls.FILE_RULES,
        of_each_client(
            *client_rules(catalogue),
            clients.cors_origins_are_origins,
            clients.keys_come_from_the_client,
            clients.login_starts_safely,
            clients.responses_have_a_use,
            clients.refresh_tokens_can_be_used,
            clients.codes_are_protected,
            credentials.secrets_are_long_enough,
        ),
    )


def of_each_client(*rules: ClientRule) -> FileRule:
    """Return rules on one client as a rule on the file."""

    def of_each(file: ConfigurationFile) -> Iterator[Finding]:
        for at, client in enumerate(file.clients):
            for rule in rules:
                for finding in rule(client):
                    yield finding.below("clients", at)

    return of_each
