"""The one configuration of the table: clients for DPoP, mutual TLS, request objects, details, JARM and profiles."""

from __future__ import annotations

from typing import Any

from tests.driving.authority import Certified
from tests.driving.registry import client_in, fresh_configuration, hashed
from tests.jarm.conftest import ENCRYPTED
from tests.mutual_tls.certificates import SAN
from tests.mutual_tls.conftest import certified_client
from tests.profiles.held import add_clients_with_profiles
from tests.request_objects.sending import let_send_objects
from tests.rich_requests.details import add_types

INITIAL_ACCESS_TOKEN = "initial-secret"
BOUND_TO_KEYS = {"dpop_bound_access_tokens": True}
BOUND_TO_CERTIFICATES = {"tls_client_certificate_bound_access_tokens": True}
SELF_SIGNED = "self_signed_tls_client_auth"


def configuration(authority_file: str, own: Certified) -> dict[str, Any]:
    """Return the usual registry with clients that need all the more; `own` is a client's certificate."""
    config = add_clients_with_profiles(add_types(fresh_configuration()))
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
    }
    config["mtls"] = {"client_ca": authority_file}
    config["limits"] = {"parked_requests_per_minute": None}
    config["registration"] = {
        "enabled": True,
        "allowed_scopes": ["openid", "api1"],
        "initial_access_token_sha256": [hashed("initial")],
    }
    let_send_objects(config)
    _add_usual_clients(config)
    _add_certified_clients(config, own)
    return config


def _add_usual_clients(config: dict[str, Any]) -> None:
    _add_like(config, "machine", "bound-machine", **BOUND_TO_KEYS)
    _add_like(config, "machine", "nonce-machine", dpop_nonce_required=True)
    _add_like(config, "web", "plain-web", authorization_details_types=[])
    keyless = ENCRYPTED | {"jwks": None, "jwks_uri": "http://127.0.0.1:1/"}
    _add_like(config, "web", "keyless-web", **keyless)


def _add_certified_clients(config: dict[str, Any], own: Certified) -> None:
    certified_client(config, "shop", tls_client_auth_subject_dn="CN=shop,O=Example")
    for kind, (name, _) in SAN.items():
        certified_client(config, f"by-{kind}", **{f"tls_client_auth_san_{kind}": name})
    for way, keys in ways_to_register(own).items():
        certified_client(config, way, token_endpoint_auth_method=SELF_SIGNED, **keys)
    certified_client(
        config,
        "fapi-certified",
        profile="fapi2_security",
        token_endpoint_auth_method=SELF_SIGNED,
        self_signed_certificates=[own.pem],
        allowed_scopes=["api2"],
        **BOUND_TO_CERTIFICATES,
    )
    for like in ("web", "spa", "machine"):
        _add_like(config, like, f"certified-{like}", **BOUND_TO_CERTIFICATES)


def ways_to_register(own: Certified) -> dict[str, dict[str, Any]]:
    """Return the metadata by which a self-signed certificate may be known."""
    return {
        "by-pem": {"self_signed_certificates": [own.pem]},
        "by-thumbprint": {"self_signed_certificates": [own.thumbprint]},
        "by-x5c": {"jwks": {"keys": [own.jwk]}},
    }


def _add_like(config: dict[str, Any], like: str, client_id: str, **keys: Any) -> None:
    """Add a client that is like another one, but for some keys."""
    client = client_in(config, like) | {"client_id": client_id} | keys
    if client.get("client_secrets"):
        client["client_secrets"] = [{"sha256": hashed(client_id)}]
    if client.get("redirect_uris"):
        client["redirect_uris"] = [f"https://{client_id}.example/callback"]
    config["clients"].append({name: value for name, value in client.items() if value is not None})
