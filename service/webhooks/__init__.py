"""Audit events that go out: CloudEvents 1.0, signed after Standard Webhooks, through an outbox in the store."""
