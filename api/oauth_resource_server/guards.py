"""The common part of the guards of all frameworks: demands, the metadata document, and requests of ASGI and WSGI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from oauth_resource_server.caller import Demand
from oauth_resource_server.certificates import decode
from oauth_resource_server.request import Request
from oauth_resource_server.server import ResourceServer


class BaseGuard:
    """Protects endpoints of one framework by one ResourceServer."""

    def __init__(self, server: ResourceServer) -> None:
        self.server = server
        self._scopes: set[str] = set()

    def _demand(
        self, scope: tuple[str, ...], acr: str | Iterable[str], max_age: int | None
    ) -> Demand:
        self._scopes.update(scope)
        values = (acr,) if isinstance(acr, str) else tuple(acr)
        return Demand(scope=scope, acr=values, max_age=max_age)

    def metadata(self) -> bytes:
        """Return the metadata document as JSON, with the scopes that endpoints need (RFC 9728 §2)."""
        return json.dumps(self.server.metadata(self._scopes)).encode()

    def _metadata_path(self) -> str:
        if self.server.metadata_path is None:
            raise ValueError("only an API with a url has a metadata document")
        return self.server.metadata_path


def read_asgi(scope: Mapping[str, Any]) -> Request:
    """Return what the scope of an ASGI connection says; a certificate by the TLS extension."""
    path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    extensions: Mapping[str, Any] = scope.get("extensions") or {}
    tls: Mapping[str, Any] = extensions.get("tls") or {}
    chain: Iterable[str] = tls.get("client_cert_chain") or ()
    client = scope.get("client")
    return Request(
        method=scope.get("method", "GET"),
        path=path.partition(b"?")[0].decode("latin-1"),
        headers=[
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ],
        certificate=_der(next(iter(chain), None)),
        peer=client[0] if client else None,
    )


def read_wsgi(environ: Mapping[str, Any]) -> Request:
    """Return what the environment of a WSGI request says (PEP 3333); servers add the path as it was sent, and the certificate."""
    sent = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    decoded = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return Request(
        method=environ["REQUEST_METHOD"],
        path=_path_of(sent) if sent else quote(decoded.encode("latin-1")),
        headers=[
            (name[5:].replace("_", "-").lower(), value)
            for name, value in environ.items()
            if name.startswith("HTTP_")
        ],
        certificate=_der(environ.get("SSL_CLIENT_CERT")),
        peer=environ.get("REMOTE_ADDR") or None,
    )


def _path_of(target: str) -> str:
    """Return the path of a request target, which is a whole URL in requests to a proxy (RFC 9112 §3.2)."""
    return target.partition("?")[0] if target.startswith("/") else urlsplit(target).path


def _der(pem: str | None) -> bytes | None:
    return decode(pem) if pem else None
