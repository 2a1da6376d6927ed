"""Builds what operators see."""

from __future__ import annotations

from service.admin.reading import Views
from service.admin.views.apis import ApiViews
from service.admin.views.clients import ClientViews
from service.admin.views.explain import ExplainViews
from service.admin.views.keys import KeyViews
from service.admin.views.outbox import OutboxViews
from service.admin.views.reach import ReachViews
from service.admin.views.users import UserViews
from service.admin.ways.places import LatestPlaces
from service.clients.registered_list import RegisteredList
from service.clients.secret_uses import SecretUses
from service.outbox.looking import Outboxes
from service.wiring.features import Features


def build_views(features: Features, uses: SecretUses, outboxes: Outboxes) -> Views:
    """Build the views, for the admin API and for the console."""
    shared, places = features.shared, LatestPlaces()
    return Views(
        clients=ClientViews(
            clients=features.clients,
            listed=RegisteredList(shared.stores),
            uses=uses,
            places=places,
        ),
        apis=ApiViews(registry=shared.registry, uses=uses, places=places),
        users=UserViews(
            source=shared.configuration.users.source,
            users=shared.users,
            stores=shared.stores,
            sessions=shared.sessions,
            authorizations=shared.authorizations,
            factors=shared.factors,
            guesses=shared.guesses,
        ),
        keys=KeyViews(source=features.key_source),
        registry=shared.registry,
        reach=ReachViews(shared.registry),
        explanations=ExplainViews(features.explained),
        outbox=OutboxViews(outboxes),
    )
