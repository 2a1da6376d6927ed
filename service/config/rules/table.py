"""All rules of config.yaml; to add one, write it into the tuple `RULES` of its module.

Rules that need other parts of the service are in `service/start_rules.py`.
"""

from __future__ import annotations

from functools import partial

from service.config.rules import (
    client_keys,
    clients,
    extensions,
    names,
    secrets,
    service,
    supported,
)
from service.config.rules.rule import ClientRule, FileRule, of_each_client
from service.model.catalogue import Catalogue


def client_rules(catalogue: Catalogue) -> tuple[ClientRule, ...]:
    """Return the rules for every client, registered dynamically or not."""
    return (
        *clients.RULES,
        partial(client_keys.auth_method_fits_the_credentials, catalogue=catalogue),
        *client_keys.RULES,
    )


def file_rules(catalogue: Catalogue) -> tuple[FileRule, ...]:
    """Return every rule on the file and on its clients."""
    return (
        *names.RULES,
        *secrets.RULES,
        *service.RULES,
        *extensions.RULES,
        client_keys.request_objects_can_be_decrypted,
        partial(extensions.grant_types_have_one_handler, catalogue=catalogue),
        partial(supported.file_uses_supported_features, catalogue=catalogue),
        of_each_client(
            *client_rules(catalogue),
            *clients.RULES_OF_THE_FILE,
            *client_keys.RULES_OF_THE_FILE,
            partial(supported.client_uses_supported_features, catalogue=catalogue),
        ),
    )
