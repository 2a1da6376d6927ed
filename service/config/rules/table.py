"""Every rule of config.yaml; to add one, a function and a line here.

Those that need parts of the service itself stand in `service/start_rules.py`.
"""

from __future__ import annotations

from functools import partial

from service.config.rules import (
    client_credentials,
    client_grants,
    client_keys,
    extensions,
    logout_uris,
    names,
    redirect_uris,
    references,
    registration,
    secrets,
    service,
    supported,
    user_claims,
)
from service.config.rules.rule import ClientRule, FileRule, of_each_client
from service.model.catalogue import Catalogue

CLIENT_RULES: tuple[ClientRule, ...] = (
    client_grants.client_has_a_grant_type,
    client_grants.public_client_cannot_act_for_itself,
    client_grants.response_types_follow_from_grant_types,
    client_grants.tokens_in_the_browser_are_allowed,
    client_grants.query_never_carries_tokens,
    client_grants.answers_have_somewhere_to_go,
    client_grants.refresh_tokens_need_both_settings,
    client_grants.refresh_tokens_of_public_clients_rotate,
    client_grants.pkce_protects_public_clients,
    client_grants.lifetimes_make_sense,
    client_credentials.confidential_client_has_a_credential,
    client_credentials.public_client_has_no_secret,
    client_credentials.keys_are_given_once,
    client_credentials.jwks_holds_public_keys,
    client_credentials.symmetric_algorithms_know_the_secret,
    client_keys.secrets_are_long_enough,
    client_keys.encryption_has_a_key,
    client_credentials.signed_requests_can_be_verified,
    client_credentials.encryption_has_an_algorithm,
    redirect_uris.redirect_uris_are_safe,
    redirect_uris.cors_origins_are_origins,
    logout_uris.logout_uris_are_encrypted,
    logout_uris.frontchannel_logout_is_at_home,
    registration.third_parties_start_logins_safely,
)
FILE_RULES: tuple[FileRule, ...] = (
    names.names_stand_once,
    names.no_provider_is_called_local,
    names.scopes_are_of_one_kind,
    names.described_scopes_belong_to_an_api,
    names.scopes_belong_to_one_api,
    references.scopes_are_registered,
    references.resources_are_registered,
    references.providers_are_registered,
    references.algorithms_have_keys,
    client_keys.request_objects_can_be_decrypted,
    references.pairwise_subjects_can_be_made,
    secrets.secrets_are_hashed_once,
    secrets.plain_secrets_are_needed,
    secrets.api_resources_have_secrets,
    secrets.passwords_are_hashed,
    service.issuer_is_a_secure_base,
    service.shared_store_keeps_keys_encrypted,
    service.embedded_store_has_one_process,
    service.key_files_are_there,
    service.keys_outlive_tokens,
    service.sessions_end,
    service.proxies_are_few,
    service.ports_differ,
    service.metrics_are_not_public,
    service.development_is_not_public,
    service.lingering_leaves_time_to_finish,
    service.locales_are_consistent,
    service.named_files_exist,
    service.providers_are_reachable_safely,
    service.users_come_from_one_source,
    user_claims.standard_claims_have_their_types,
    registration.registered_secrets_are_encrypted,
    registration.registered_clients_may_ask_for_something,
    registration.open_registration_is_bounded,
    extensions.handlers_have_their_shape,
    extensions.delegation_is_for_apis,
    extensions.user_store_has_its_shape,
    *(of_each_client(rule) for rule in CLIENT_RULES),
)


def rules(catalogue: Catalogue) -> tuple[FileRule, ...]:
    """Return every rule, with those that ask the catalogue of what is supported."""
    return (
        *FILE_RULES,
        partial(extensions.grant_types_have_one_handler, catalogue=catalogue),
        partial(supported.file_uses_supported_features, catalogue=catalogue),
        of_each_client(
            partial(client_credentials.auth_method_fits_the_credentials, catalogue=catalogue)
        ),
        of_each_client(partial(supported.client_uses_supported_features, catalogue=catalogue)),
    )
