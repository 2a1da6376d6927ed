"""Every page of the console with what it may be shown; names are those of an attacker."""

from __future__ import annotations

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

from service.admin.console import picture
from service.admin.ways.drawing import WayView
from service.admin.ways.finding import Kind
from service.web.pages.display import page_of

SCRIPT = "<script>alert(1)</script>"
AT = datetime(2026, 11, 27, 3, 4, tzinfo=UTC)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
OPERATOR = SimpleNamespace(name="Olivia Operator", may_write=True, session_id="S" * 16)
SHARED = {"operator": OPERATOR, "csrf": "anti-forgery", "done": ""}


def way(
    client: str, api: str, by: Kind = "direct", scope: str = "", users_of: tuple[str, ...] = ()
) -> WayView:
    return WayView(
        client=client,
        api=api,
        by=by,
        grant_types=(),
        scope=tuple((scope or api).split()),
        users_of=users_of,
        place="registry.yaml:17",
    )


WAYS = [
    way("shop", "orders", scope="orders.read orders.write"),
    way("shop", "payments"),
    way("back-office", "orders"),
    way("back-office", "customers", scope="customers"),
    way("orders", "payments", "delegation", users_of=("orders",)),
    way("orders", "customers", "exchange", "customers.read", users_of=("orders",)),
    way("nightly", "reports", scope="reports.write"),
    way(SCRIPT, "reports", "extension"),
]
DRAWN = picture.draw(WAYS)
SECRET = SimpleNamespace(
    position=0,
    kind="slow_hash",
    description=SCRIPT,
    expires_at=AT,
    expired=True,
    last_used=date(2026, 11, 26),
)
CLIENT = SimpleNamespace(
    client_id="shop",
    name=SCRIPT,
    enabled=True,
    origin="configuration",
    place="registry.yaml:17",
    secrets=(SECRET,),
    registered_at=None,
    expires_at=None,
    settings={
        "allowed_grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": ["https://shop.example/callback?" + "x" * 90],
        "require_pkce": True,
        "claims": {"a": SCRIPT},
        "contacts": None,
        "allowed_users": [{"groups": ["staff"]}],
        "access_token_lifetime": 3600,
    },
)
REGISTERED = SimpleNamespace(
    **vars(CLIENT)
    | {
        "client_id": "dc_" + "A" * 40,
        "origin": "dynamic_registration",
        "registered_at": AT,
        "place": None,
    }
)
API = SimpleNamespace(
    name="orders",
    url="https://orders.example/",
    place="registry.yaml:40",
    secrets=(SECRET,),
    settings={"scopes": ["orders.read", "orders.write"], "user_claims": []},
)
USER = SimpleNamespace(
    sub="1f0c" * 9,
    username="<alice>",
    enabled=True,
    source="file",
    tenant="acme",
    password="argon2id",
    factors_locked_until=AT,
    identities=(SimpleNamespace(provider="google", subject=SCRIPT),),
    factors=("otp", "recovery_codes"),
    sessions=1,
    grants=1,
    claims={"name": SCRIPT, "email": "alice@example.com", "groups": ["staff", "admin"]},
)
SESSION = SimpleNamespace(
    id="S" * 16,
    idp="google",
    amr=("pwd", "otp", "mfa"),
    signed_in_at=AT,
    last_used_at=AT,
    ends_at=AT,
    address="2001:db8:1234:5678:9abc:def0:1234:5678",
    user_agent=FIREFOX,
)
GRANT = SimpleNamespace(
    id="G" * 16,
    client_id="shop",
    scope=("openid", "orders.read"),
    session_id="S" * 16,
    offline=False,
    granted_at=AT,
)
FACTORS = (
    SimpleNamespace(kind="otp", name=SCRIPT, created_at=AT, last_used_at=AT, remaining=None),
    SimpleNamespace(kind="recovery_codes", name="", created_at=AT, last_used_at=None, remaining=8),
)
KEYS = [
    SimpleNamespace(
        kid=f"{state}-2026-11",
        alg="ES256",
        state=state,
        used_from=AT,
        published_until=None,
        usable=True,
    )
    for state in ("signing", "announced", "retired")
]
CHANGE = SimpleNamespace(
    name="end-sessions",
    heading="End all sessions of this user?",
    explanation="The user is signed out everywhere.",
    button="End all sessions",
    is_danger=True,
)
MESSAGE = SimpleNamespace(
    id="webhooks.1",
    queue="webhooks",
    kind="user_signed_in",
    to="hooks.example",
    at=AT,
    failures=4,
    cause="the receiver answered 500",
)


def paged(*items: Any, next_cursor: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(items=items, next=next_cursor)


REFUSED = SimpleNamespace(
    at=AT, findings=("registry.yaml:17: clients[0].redirect_uris: " + SCRIPT,)
)
SCREENS: dict[str, dict[str, Any]] = {
    "overview": {
        "here": "/",
        "issuer": "https://id.example.com",
        "health": {"is_ready": True, "reasons": [], "degradations": ["store: is nearly full"]},
        "store": {"seconds_away": 0, "used": 700_000_000, "limit": 1 << 30},
        "registry": SimpleNamespace(
            generation="a1b2c3d4",
            loaded_at=AT,
            files=("config.yaml", "registry.yaml"),
            need_restart=("server.port",),
            clients=4,
            api_resources=4,
            users=2,
            refused=REFUSED,
        ),
        "keys": KEYS,
        "outbox": {"logout": SimpleNamespace(waiting=2, dead=1)},
    },
    "clients": {
        "here": "/clients",
        "asked": "",
        "ways": len(WAYS),
        "drawn": DRAWN,
        "clients": page_of(
            [
                SimpleNamespace(
                    client_id=name, client_name=SCRIPT, template=False, enabled=name != "shop"
                )
                for name in ("shop", "back-office", SCRIPT)
            ],
            None,
        ),
        "reached": {"shop": ["orders", "payments"], "back-office": ["orders"], SCRIPT: []},
        "apis": page_of([SimpleNamespace(name="orders", url=None, scopes=["orders"])] * 30, "2"),
        "reaching": {"orders": 2},
    },
    "client": {
        "here": "/clients",
        "own_path": "/client?id=shop",
        "client": CLIENT,
        "ways": WAYS[:2],
        "many": 2,
        "next": None,
        "drawn": picture.draw(WAYS[:2]),
    },
    "api": {
        "here": "/clients",
        "api": API,
        "ways": WAYS[:3:2],
        "many": 2,
        "next": None,
        "drawn": picture.draw(WAYS[:3:2]),
    },
    "registered_clients": {
        "here": "/registered-clients",
        "page": paged(REGISTERED, next_cursor="more"),
    },
    "users": {
        "here": "/users",
        "by": "email",
        "asked": SCRIPT,
        "found": [USER],
        "problem": "the source of users cannot search by e-mail",
    },
    "user": {
        "here": "/users",
        "own_path": "/user?sub=1",
        "user": USER,
        "sessions": paged(SESSION, next_cursor="more"),
        "grants": paged(GRANT),
        "factors": paged(*FACTORS),
    },
    "explain": {
        "here": "/explain",
        "facts": [
            ("kind", "access token"),
            ("inactive because", SCRIPT),
        ],
        "problem": "",
        "longest": 8192,
    },
    "outbox": {
        "here": "/outbox",
        "own_path": "/outbox?state=dead",
        "state": "dead",
        "outbox": SimpleNamespace(
            queues={"logout": SimpleNamespace(waiting=2, dead=1)}, items=(MESSAGE,), next="more"
        ),
    },
    "confirm": {
        "change": CHANGE,
        "id": SCRIPT,
        "session": SESSION,
        "grant": None,
        "user": USER,
        "is_gone": True,
        "back": "/user?sub=1",
    },
    "message": {
        "heading": "You may not do this",
        "error": "access_denied",
        "error_description": "only users whom admin.writers includes may change something",
        "request_id": "request-17",
        "continue_href": "/",
    },
}
"""Pages by their templates."""
