"""Extension grants: handlers by import path or entry point, each run so that it can only fail closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

import orjson
import structlog

from service.config.plugin_signatures import WrongShape, is_handler, raised
from service.config.plugins import PluginError, load_plugin
from service.config.problem import CannotServe, Finding
from service.model.events import Emit
from service.model.registry import ExtensionGrantRegistration
from service.model.token_events import ExtensionGrantFailed
from service.protocol.errors import InvalidGrant, OAuthError
from service.tokens.granting import (
    GrantHandler,
    GrantResult,
    GrantServices,
    GrantSuccess,
    ScopeRule,
    TokenRequest,
)

_MakeHandler = Callable[[Mapping[str, object], GrantServices], GrantHandler]

log = structlog.get_logger()


class ExtensionGrantError(CannotServe):
    """A handler cannot be made, or two serve one grant type; says which and why."""

    def __init__(self, at: int, message: str, hint: str | None = None) -> None:
        """Take which of the registered handlers it is."""
        super().__init__(Finding(("extension_grants", at, "handler"), message, hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionGrant:
    """A handler behind what the contract promises: a time-out, one result, and failure closed."""

    handler: GrantHandler
    timeout: float
    emit: Emit
    needs_timer: bool
    """Whether the handler waits for something but the store, whose time is limited."""
    scope_rule: ClassVar[ScopeRule] = ScopeRule.REQUIRED

    @property
    def grant_type(self) -> str:
        """The handler's own grant type string."""
        return self.handler.grant_type

    async def handle(self, request: TokenRequest) -> GrantResult:
        """The handler's one result, or invalid_grant with the cause in the log."""
        try:
            if self.needs_timer:
                async with asyncio.timeout(self.timeout):
                    result = await self.handler.handle(request)
            else:
                result = await self.handler.handle(request)
            unsound = _unsound(result, request)
        except OAuthError as error:
            result, unsound = error, _unsound(error, request)
        except TimeoutError:
            return self._failed(request, f"no answer within {self.timeout} s")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failed(request, "something that the handler waited for was cancelled")
        except (Exception, SystemExit) as error:
            log.exception("an extension grant failed", grant_type=self.grant_type)
            return self._failed(request, f"{type(error).__name__} in the handler")
        return result if unsound is None else self._failed(request, unsound)

    def _failed(self, request: TokenRequest, cause: str) -> InvalidGrant:
        self.emit(
            ExtensionGrantFailed(
                client_id=request.client.client_id, grant_type=self.grant_type, cause=cause
            )
        )
        return InvalidGrant("the grant could not be validated")


def _unsound(result: object, request: TokenRequest) -> str | None:
    """Why no answer can be made of a result; the handler's types are checked by nobody else."""
    if isinstance(result, GrantSuccess):
        return _unsound_success(result, request)
    if isinstance(result, OAuthError):
        return None if _is_json(result.members) else "the error's members are no JSON"
    return f"the handler returned a {type(result).__name__}"


def _unsound_success(result: GrantSuccess, request: TokenRequest) -> str | None:
    if not _is_name(result.authorization.subject):
        return "the handler granted no user"
    if _exceeds(result, request):
        return "the handler granted more than was asked for"
    if result.lifetime is not None and not _is_lifetime(result.lifetime):
        return "the lifetime is no number of seconds"
    if not (_is_json(result.authorization.claims) and _is_json(result.members)):
        return "the claims or members are no JSON"
    return None


def _is_name(subject: object) -> bool:
    return isinstance(subject, str) and subject != ""


def _is_lifetime(seconds: object) -> bool:
    return isinstance(seconds, int) and seconds > 0


def _exceeds(result: GrantSuccess, request: TokenRequest) -> bool:
    """Whether it is for another client, or for more than the endpoint has allowed this one."""
    authorization = result.authorization
    resources = (*authorization.resources, *(result.resources or ()))
    return (
        authorization.client_id != request.client.client_id
        or not authorization.scope <= request.scope
        or not (result.scope or frozenset()) <= request.scope
        or not set(resources) <= set(request.resources)
    )


def _is_json(members: Mapping[str, object]) -> bool:
    if not members:
        return True
    try:
        orjson.dumps(dict(members))
    except (TypeError, ValueError):
        return False
    return True


def extension_grants(
    registered: Iterable[ExtensionGrantRegistration], services: GrantServices
) -> tuple[ExtensionGrant, ...]:
    """Every registered handler, made once; ExtensionGrantError where one cannot be."""
    return tuple([_extension_grant(at, each, services) for at, each in enumerate(registered)])


def _extension_grant(
    at: int, registration: ExtensionGrantRegistration, services: GrantServices
) -> ExtensionGrant:
    handler = _make(at, registration, services)
    return ExtensionGrant(
        handler=handler,
        timeout=registration.timeout,
        emit=services.emit,
        needs_timer=not getattr(handler, "only_asks_the_store", False),
    )


def _make(
    at: int, registration: ExtensionGrantRegistration, services: GrantServices
) -> GrantHandler:
    name, options = registration.handler, registration.options
    try:
        make = cast("_MakeHandler", load_plugin(name))
        handler = make(options, services)
        is_handler(handler)
    except PluginError as error:
        raise ExtensionGrantError(at, f"{name} {error}") from error
    except WrongShape as error:
        raise ExtensionGrantError(at, f"what {name} makes {error}", error.hint) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        is_missing = isinstance(error, KeyError) and error.args
        hint = f"is {error} missing in its options?" if is_missing else None
        raise ExtensionGrantError(at, f"{name} cannot be made: {raised(error)}", hint) from error
    return handler
