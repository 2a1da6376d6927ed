"""Extension grants: handlers of the operator, run so that any fault ends in invalid_grant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, cast

import msgspec
import orjson
import structlog

from service.config import plugins
from service.config.problem import CannotServe, Finding
from service.events.event import Emit
from service.events.tokens import ExtensionGrantFailed
from service.model.authorization import Authorization
from service.model.grant_types import ExtensionGrantRegistration
from service.protocol.errors import InvalidGrant, OAuthError
from service.tokens.granting import (
    DerivedGrant,
    GrantHandler,
    GrantServices,
    NewGrant,
    ScopeRule,
    TokenRequest,
)

_MakeHandler = Callable[[Mapping[str, object], GrantServices], GrantHandler]

log = structlog.get_logger()


class ExtensionGrantError(CannotServe):
    """A handler cannot be made, or two serve one grant type; says which and why."""

    def __init__(self, at: int, message: str, hint: str | None = None) -> None:
        """Take the handler's position in `extension_grants`."""
        super().__init__(Finding(("extension_grants", at, "handler"), message, hint))


class ExtensionGrant(msgspec.Struct, frozen=True, kw_only=True):
    """Runs a handler with a time-out, and accepts one valid result."""

    handler: GrantHandler
    grant_type: str
    timeout: float
    emit: Emit
    needs_timer: bool
    """Whether the handler waits for something other than the store, whose time is limited already."""
    scope_rule: ClassVar[ScopeRule] = ScopeRule.REQUIRED
    takes_authorization_details: ClassVar[bool] = False

    async def handle(self, request: TokenRequest) -> NewGrant | DerivedGrant | OAuthError:
        """Return the handler's result, or invalid_grant with the cause in the log."""
        try:
            if self.needs_timer:
                async with asyncio.timeout(self.timeout):
                    result = await self.handler.handle(request)
            else:
                result = await self.handler.handle(request)
            fault = _find_fault(result, request)
        except OAuthError as error:
            result, fault = error, _find_fault(error, request)
        except TimeoutError:
            return self._fail(request, f"no answer within {self.timeout} s")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._fail(request, "something that the handler waited for was cancelled")
        except (Exception, SystemExit) as error:
            log.exception("an extension grant failed", grant_type=self.grant_type)
            return self._fail(request, f"{type(error).__name__} in the handler")
        return result if fault is None else self._fail(request, fault)

    def _fail(self, request: TokenRequest, cause: str) -> InvalidGrant:
        client_id, grant_type = request.client.client_id, self.grant_type
        self.emit(ExtensionGrantFailed(client_id=client_id, grant_type=grant_type, cause=cause))
        return InvalidGrant("the grant could not be validated")


def _find_fault(result: object, request: TokenRequest) -> str | None:
    """Return why no answer can be made of a result; nobody else checks a handler's types."""
    if isinstance(result, OAuthError):
        return None if _is_json(result.members) else "the error's members are not JSON"
    if not isinstance(result, (DerivedGrant, NewGrant)):
        return f"the handler returned a {type(result).__name__}"
    authorization = result.authorization
    if not (_is_json(authorization.claims) and _is_json(result.members)):
        return "the claims or members are not JSON"
    lifetime = cast("object", result.lifetime)
    if not (isinstance(lifetime, int) and lifetime > 0):
        return "the lifetime is not a number of seconds"
    return _find_excess(authorization, request)


def _find_excess(authorization: Authorization, request: TokenRequest) -> str | None:
    if not (isinstance(authorization.subject, str) and authorization.subject):
        return "the handler granted no user"
    granted, asked = authorization.resources, request.resources
    if (
        authorization.client_id != request.client.client_id
        or not authorization.scope <= request.scope
        or (granted != asked and not set(granted) <= set(asked))
    ):
        return "the handler granted more than was asked for"
    if asked and not granted:  # it would be for all of the scope's
        return "the handler left out the resources that were asked for"
    return None


def _is_json(members: Mapping[str, object]) -> bool:
    try:
        return not members or bool(orjson.dumps(dict(members)))
    except (TypeError, ValueError):
        return False


def extension_grants(
    registered: Iterable[ExtensionGrantRegistration], services: GrantServices
) -> tuple[ExtensionGrant, ...]:
    """Make every registered handler once; raise ExtensionGrantError if one cannot be made."""
    return tuple([_make_grant(at, one, services) for at, one in enumerate(registered)])


def _make_grant(
    at: int, registration: ExtensionGrantRegistration, services: GrantServices
) -> ExtensionGrant:
    name = registration.handler
    try:
        make = cast("_MakeHandler", plugins.load_plugin(name))
        handler = make(registration.options, services)
        plugins.HANDLER.require(handler)
    except plugins.PluginError as error:
        subject = f"what {name} makes" if error.hint else name
        raise ExtensionGrantError(at, f"{subject} {error}", error.hint) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        is_missing = isinstance(error, KeyError) and error.args
        hint = f"is {error} missing in its options?" if is_missing else None
        message = f"{name} cannot be made: {plugins.describe_exception(error)}"
        raise ExtensionGrantError(at, message, hint) from error
    return ExtensionGrant(
        handler=handler,
        grant_type=handler.grant_type,
        timeout=registration.timeout,
        emit=services.emit,
        needs_timer=not getattr(handler, "only_asks_the_store", False),
    )
