"""Events of clients: their authentication, registration and metadata documents."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class ClientRefused(Event, frozen=True, kw_only=True):
    """A client or API resource failed to authenticate; `client_id` is the client that the request names if it is registered, or the API resource's name."""

    webhooks = "name"
    counter = EventCounter("client_refusals", "Failed client authentications.", ("endpoint",))
    client_id: str | None
    endpoint: str
    cause: str


class ClientRegistered(Event, frozen=True, kw_only=True):
    """A client registered dynamically."""

    webhooks = "name"
    counter = EventCounter("clients_registered", "Dynamically registered clients.")
    client_id: str


class ClientUpdated(Event, frozen=True, kw_only=True):
    """A dynamically registered client changed its metadata."""

    client_id: str


class ClientDeleted(Event, frozen=True, kw_only=True):
    """A dynamically registered client deleted itself, or an operator deleted it; its tokens are inactive."""

    client_id: str


class RegistrationRefused(Event, frozen=True, kw_only=True):
    """A registration request, or a request of its management, was answered with an error."""

    webhooks = "name"
    counter = EventCounter(
        "registration_refusals", "Refused registrations, and requests about them.", ("error",)
    )
    error: str
    cause: str


class ClientDocumentFetched(Event, frozen=True, kw_only=True):
    """The metadata document of a client whose `client_id` is its URL was fetched and accepted (docs/mcp.md#what-the-operator-sees)."""

    webhooks = "name"
    counter = EventCounter("client_documents_fetched", "Metadata documents that were accepted.")
    client_id: str


class ClientDocumentRefused(Event, frozen=True, kw_only=True):
    """The metadata document of a client could not be fetched, or was not accepted."""

    webhooks = "name"
    counter = EventCounter(
        "client_document_refusals", "Metadata documents of clients that could not be used."
    )
    client_id: str
    cause: str
