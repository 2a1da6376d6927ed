"""Fetches what an issuer publishes: its metadata (RFC 8414, OIDC Discovery) and its keys (RFC 7517), fetched when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

from oauth_resource_server import jose
from oauth_resource_server.blocking import begin, perform
from oauth_resource_server.cache import SingleFlight
from oauth_resource_server.http import Http, fetch_json, log
from oauth_resource_server.refusals import IssuerUnavailable

OK = 200
METADATA_SECONDS = 3600
KEYS_SECONDS = 600
"""After which keys are fetched again, so that a withdrawn one is not used much longer."""
KEYS_SECONDS_UNREACHABLE = 86400
"""For which keys are used while the issuer does not answer."""
FLOOR_SECONDS = 30
"""Between two fetches of keys, whatever key ids callers invent."""
_FIRST_FLOOR_SECONDS = 1
_MAX_KEYS = 100


class Issuer:
    """One issuer, as its documents describe it."""

    def __init__(self, url: str, http: Http, metadata: Mapping[str, Any] | None = None) -> None:
        """`metadata` is for an issuer that publishes none: `jwks_uri` and the endpoints that are needed."""
        if urlsplit(url).scheme not in {"https", "http"} or "?" in url or "#" in url:
            raise ValueError("the issuer is a URL without query and fragment (RFC 8414 §2)")
        self.url, self.http = url, http
        self._given, self._fetched = metadata, metadata
        self._fetched_at = 0.0
        self._flight = SingleFlight[Mapping[str, Any]]()

    async def endpoint(self, name: str) -> str:
        """Return a URL of the metadata, such as `introspection_endpoint`; an https issuer has only https URLs."""
        endpoint = (await self.metadata()).get(name)
        if not isinstance(endpoint, str) or urlsplit(endpoint).scheme not in self._schemes():
            log.error("the metadata of %s have no usable %s", self.url, name)
            raise IssuerUnavailable(f"the issuer has no usable {name}")
        return endpoint

    async def metadata(self) -> Mapping[str, Any]:
        """Return the metadata, an hour old at most while the issuer answers."""
        if self._fetched is None or (
            not self._given and time() - self._fetched_at > METADATA_SECONDS
        ):
            try:
                return await perform(lambda: self._flight.run("metadata", self._fetch))
            except IssuerUnavailable:
                if self._fetched is None:
                    raise
        return self._fetched

    async def _fetch(self) -> Mapping[str, Any]:
        for url in self._well_known():
            status, metadata = await fetch_json(self.http, url)
            if status == OK and metadata.get("issuer") == self.url:  # RFC 8414 §3.3
                self._fetched, self._fetched_at = metadata, time()
                return metadata
        log.error("%s publishes no metadata with this issuer", self.url)
        raise IssuerUnavailable("the issuer has no metadata")

    def _well_known(self) -> tuple[str, str]:
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        return (
            f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
            f"{self.url.rstrip('/')}/.well-known/openid-configuration",
        )

    def _schemes(self) -> set[str]:
        return {"https", urlsplit(self.url).scheme}


class Keys:
    """The issuer's public keys; one fetch at a time, and no caller can cause many."""

    def __init__(self, issuer: Issuer, on_change: Callable[[], None]) -> None:
        """`on_change` is called when the set differs from the one before."""
        self._issuer, self._on_change = issuer, on_change
        self._set: list[dict[str, Any]] = []
        self._read: dict[tuple[object, str], Any] = {}
        self._fetched_at = self._tried_at = self._failed_at = 0.0
        self._flight = SingleFlight[None]()

    async def refresh_if_due(self) -> None:
        """Fetch keys that are old: in the background, but at once after a long pause (a withdrawn key may be among them)."""
        now = time()
        if now - self._fetched_at <= KEYS_SECONDS or not self._is_due():
            return
        if self._set and now - self._tried_at <= 2 * KEYS_SECONDS:
            begin(self._refresh)
        else:
            await perform(self._refresh)

    async def find(self, kid: object, alg: str) -> Any:
        """Return the key of this id, or the only one that fits where there is no id; None if no key fits."""
        key = self._find(kid, alg)
        if key is None:
            await perform(self._fetch_once)
            key = self._find(kid, alg)
        if not self._set or time() - self._fetched_at > KEYS_SECONDS_UNREACHABLE:
            raise IssuerUnavailable("the issuer's keys cannot be fetched")
        return key

    def _find(self, kid: object, alg: str) -> Any:
        if (kid, alg) not in self._read:
            named = [jwk for jwk in self._set if kid is None or jwk.get("kid") == kid]
            keys = [key for jwk in named if (key := jose.read_key(jwk, alg)) is not None]
            key = keys[0] if len(keys) == 1 else None
            if kid is not None and key is None:
                return None  # an invented key id is not remembered
            self._read[kid, alg] = key
        return self._read[kid, alg]

    def _is_due(self) -> bool:
        """Return whether a fetch may begin: a while after the last one began, or after the first ones failed."""
        if self._set:
            return time() - self._tried_at >= FLOOR_SECONDS
        return time() - self._failed_at >= _FIRST_FLOOR_SECONDS

    async def _refresh(self) -> None:
        try:
            await self._fetch_once()
        except IssuerUnavailable:
            until = self._fetched_at + KEYS_SECONDS_UNREACHABLE
            effect = (
                "the last ones are used"
                if self._set and time() <= until
                else "no token can be verified"
            )
            log.warning("the keys of %s cannot be fetched: %s", self._issuer.url, effect)

    async def _fetch_once(self) -> None:
        """Join the fetch that is under way in this event loop; else begin one, if that is due."""
        if self._flight.is_running("keys") or self._is_due():
            await self._flight.run("keys", self._fetch)

    async def _fetch(self) -> None:
        self._tried_at = time()
        try:
            await self._read_set()
        finally:
            self._failed_at = 0.0 if self._set else time()

    async def _read_set(self) -> None:
        url = await self._issuer.endpoint("jwks_uri")
        status, jwks = await fetch_json(self._issuer.http, url)
        entries = cast("list[Any] | None", jwks.get("keys"))
        if status != OK or not isinstance(entries, list) or len(entries) > _MAX_KEYS:
            log.error("%s is not a JWK set", url)
            raise IssuerUnavailable("the issuer's keys cannot be read")
        keys: list[dict[str, Any]] = [entry for entry in entries if isinstance(entry, dict)]
        self._fetched_at = time()
        if keys != self._set:
            self._set, self._read = keys, {}
            self._on_change()
