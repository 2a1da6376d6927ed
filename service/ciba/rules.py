"""Rules on CIBA: the clients that may use it, how they learn of answers, and its times (CIBA Core §4, §7.1.1)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config import plugins
from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.model.backchannel import BUILTIN
from service.model.client_entry import ClientEntry
from service.model.polling import CIBA
from service.protocol.uris import is_unencrypted

_MODE, _ENDPOINT, _ALG, _USER_CODE = (
    ("backchannel_token_delivery_mode",),
    ("backchannel_client_notification_endpoint",),
    ("backchannel_authentication_request_signing_alg",),
    ("backchannel_user_code_parameter",),
)


def ciba_fits_the_client(client: ClientEntry) -> Iterator[Finding]:
    """The client is confidential, polls or gets pings over https, and has a key for signed requests."""
    mode, uri = (
        client.backchannel_token_delivery_mode,
        client.backchannel_client_notification_endpoint,
    )
    if CIBA in client.allowed_grant_types and not client.require_client_secret:
        message = "CIBA is for confidential clients (CIBA Core §7.1)"
        yield Finding(("allowed_grant_types", CIBA), message)
    if mode == "push":
        message = "push is not supported: tokens are never sent to a URL"
        yield Finding(_MODE, message, "use ping or poll")
    if mode == "ping" and uri is None:
        yield Finding(_ENDPOINT, "ping needs the URL that is called (CIBA Core §4)")
    if is_unencrypted(uri or ""):
        yield Finding(_ENDPOINT, "http is for loopback addresses", "use https (CIBA Core §4)")
    if client.backchannel_authentication_request_signing_alg is not None and not client.has_keys:
        yield Finding(_ALG, "this client has no key to sign with", "add jwks or jwks_uri")
    yield from _unused_keys(client)


def _unused_keys(client: ClientEntry) -> Iterator[Finding]:
    """Warn of keys for CIBA at a client that may not use it."""
    if CIBA in client.allowed_grant_types:
        return
    for location in (_MODE, _ENDPOINT, _ALG, _USER_CODE):
        if getattr(client, location[0]):
            message = f"has no effect without the grant type {CIBA}"
            yield warning(location, message, "add it to allowed_grant_types, or remove this")


def notifier_has_its_signature(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own notifier can be imported, and called as documented."""
    if file.ciba.notifier != BUILTIN:
        location = ("ciba", "notifier")
        yield from plugins.judge_plugin(location, file.ciba.notifier, plugins.NOTIFIER)


def ciba_settings_fit(file: ConfigurationFile) -> Iterator[Finding]:
    """Times are in order, the webhook is used and encrypted, and pings that are kept can be read by every replica."""
    ciba, signing = file.ciba, file.signing
    if ciba.expires_in > ciba.max_expiry:
        yield Finding(("ciba", "expires_in"), "is longer than max_expiry")
    if ciba.interval >= ciba.expires_in:
        yield warning(("ciba", "interval"), "leaves a client no time to poll before expires_in")
    if ciba.webhook is not None and ciba.notifier != BUILTIN:
        message = "is not used, because the notifier is a class of your own"
        yield warning(("ciba", "webhook"), message)
    if is_unencrypted(ciba.webhook or ""):
        message = "with http, everyone on the way learns of the request"
        yield warning(("ciba", "webhook"), message, "use https")
    pinged = any(client.backchannel_token_delivery_mode == "ping" for client in file.clients)
    if pinged and not signing.encryption_key and not file.store.url.startswith("memory:"):
        message = "is required for CIBA's ping; it encrypts the clients' tokens in the store"
        hint = "`token-service new-key` makes one"
        yield Finding(("signing", "encryption_key"), message, hint)
