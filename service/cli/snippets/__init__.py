"""Renders code that uses a client or an API, from one text for each kind and framework."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import urlsplit

from service.cli.draft import Draft

FRAMEWORKS = ("fastapi", "spring", "express", "go", "nginx")
REDIRECT_URIS = {
    "fastapi": "http://localhost:8000/callback",
    "spring": "http://localhost:8080/login/oauth2/code/auth",
    "express": "http://localhost:3000/callback",
    "go": "http://localhost:8000/callback",
    "nginx": "http://localhost/oauth2/callback",
    "browser": "http://localhost:5173/callback",
    "loopback": "http://127.0.0.1/callback",
}
"""The redirect URI that each framework uses by default."""
_PROXY_TLS = """
            proxy_ssl_server_name on;
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;"""
_FOLDER = files("service.cli.snippets")


def has_snippet(kind: str, framework: str) -> bool:
    return (_FOLDER / f"{kind}-{framework}.txt").is_file()


def render_snippet(draft: Draft, framework: str, *, algorithm: str) -> str:
    """Return the code for a framework, complete but for the secret."""
    text = (_FOLDER / f"{draft.kind}-{framework}.txt").read_text(encoding="utf-8")
    redirect = urlsplit(draft.redirect_uri)
    host = redirect.hostname or ""
    is_https = draft.issuer.startswith("https:")
    insecure = ", undefined, { execute: [client.allowInsecureRequests] }"
    known = {
        "issuer": draft.issuer,
        "client_id": draft.identifier,
        "algorithm": algorithm,
        "scope": draft.scopes[0],
        "scopes": " ".join(draft.scopes),
        "scopes_with_commas": ", ".join(draft.scopes),
        "scopes_quoted": ", ".join(f'"{scope}"' for scope in draft.scopes),
        "redirect_uri": draft.redirect_uri,
        "redirect_path": redirect.path or "/",
        "origin": f"{redirect.scheme}://{redirect.netloc}",
        "port": str(redirect.port or 8000),
        "is_https": "true" if redirect.scheme == "https" else "false",
        "loopback_host": f"[{host}]" if ":" in host else host,
        "insecure_option": "" if is_https else insecure,
        "proxy_tls": _PROXY_TLS if is_https else "",
    }
    for name, value in known.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    return text
