"""The prompt parameter: pages that the client demands, or none at all (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from service.protocol.errors import InvalidRequest
from service.protocol.refused_value import RefusedValue

NONE, LOGIN, CONSENT, SELECT_ACCOUNT = "none", "login", "consent", "select_account"
PROMPTS = (NONE, LOGIN, CONSENT, SELECT_ACCOUNT)


def parse_prompt(text: str | None) -> frozenset[str]:
    """Read a prompt parameter; none allows no other value."""
    prompt = frozenset((text or "").split(" ")) - {""}
    if not prompt <= frozenset(PROMPTS):
        raise InvalidRequest(
            "prompt holds a value that is not one of " + ", ".join(PROMPTS),
            refused=RefusedValue("prompt", text),
        )
    if NONE in prompt and len(prompt) > 1:
        raise InvalidRequest("prompt none cannot stand with another value")
    return prompt
