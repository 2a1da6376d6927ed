"""The modules of the suite's FAPI 2.0 plans for fapi_profile=plain_fapi, whatever the other variants."""

from __future__ import annotations

_BEGINNING = "fapi2-security-profile-final-"

SECURITY_PROFILE = tuple(
    _BEGINNING + name
    for name in (
        "discovery-end-point-verification",
        "happy-flow",
        "user-rejects-authentication",
        "ensure-authorization-request-without-state-success",
        "ensure-authorization-request-without-nonce-success",
        "ensure-authorization-request-with-64-char-nonce-success",
        "ensure-other-scope-order-succeeds",
        "test-claims-parameter-identity-claims",
        "access-token-type-header-case-sensitivity",
        "check-dpop-proof-nbf-exp",
        "ensure-dpopproof-with-iat-10seconds-before-succeeds",
        "ensure-dpopproof-with-iat-10seconds-after-succeeds",
        "ensure-mismatched-dpop-jkt-fails",
        "ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt",
        "ensure-token-endpoint-fails-with-mismatched-dpop-jkt",
        "ensure-dpopproof-at-par-endpoint-binding-success",
        "ensure-dpop-auth-code-binding-success",
        "ensure-different-nonce-inside-and-outside-request-object",
        "ensure-different-state-inside-and-outside-request-object",
        "ensure-authorization-request-with-long-nonce",
        "ensure-authorization-request-with-long-state",
        "state-only-outside-request-object-not-used",
        "ensure-request-object-without-redirect-uri-fails",
        "plain-fapi-tolerate-unregistered-redirect-uri",
        "ensure-unsigned-authorization-request-without-using-par-fails",
        "ensure-redirect-uri-in-authorization-request",
        "ensure-response-type-code-idtoken-fails",
        "ensure-response-type-token-fails",
        "ensure-client-id-in-token-endpoint",
        "ensure-holder-of-key-required",
        "ensure-authorization-code-is-bound-to-client",
        "attempt-reuse-authorization-code-after-one-second",
        "ensure-token-endpoint-fails-with-expired-auth-code",
        "ensure-signed-client-assertion-with-RS256-fails",
        "ensure-client-assertion-in-token-endpoint",
        "ensure-client-assertion-with-exp-is-5-minutes-in-past-fails",
        "ensure-client-assertion-with-wrong-aud-fails",
        "ensure-client-assertion-with-no-sub-fails",
        "dpop-negative-tests",
        "refresh-token",
        "par-ensure-reused-request-uri-prior-to-auth-completion-succeeds",
        "par-attempt-reuse-request_uri",
        "par-attempt-to-use-expired-request_uri",
        "par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted",
        "par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails",
        "par-attempt-to-use-request_uri-for-different-client",
        "par-authorization-request-containing-request_uri-form-param",
        "par-attempt-invalid-http-method",
        "par-ensure-pkce-required",
        "ensure-pkce-code-verifier-required",
        "incorrect-pkce-code-verifier-rejected",
        "par-plain-pkce-rejected",
        "par-without-duplicate-parameters",
        "par-test-array-as-audience-fails",
        "par-test-par-endpoint-url-as-audience-fails",
        "par-test-token-endpoint-url-as-audience-fails",
    )
)
"""All but those of other fapi_profiles, of grant_management, and of signed requests."""

MESSAGE_SIGNING = (
    *SECURITY_PROFILE,
    *(
        _BEGINNING + name
        for name in (
            "ensure-request-object-with-multiple-aud-succeeds",
            "ensure-request-object-with-nbf-8-seconds-in-the-future-is-accepted",
            "ensure-request-object-without-exp-fails",
            "ensure-request-object-without-nbf-fails",
            "ensure-expired-request-object-fails",
            "ensure-request-object-with-bad-aud-fails",
            "ensure-request-object-with-exp-over-60-fails",
            "ensure-request-object-with-nbf-over-60-fails",
            "ensure-signed-request-object-with-RS256-fails",
            "ensure-request-object-signature-algorithm-is-not-none",
            "ensure-request-object-with-invalid-signature-fails",
            "ensure-matching-key-in-authorization-request",
            "ensure-unsigned-request-at-par-endpoint-fails",
            "par-authorization-request-containing-request_uri",
        )
    ),
)
"""Those that need signed requests, too."""

_CIBA = "fapi-ciba-id1"

FAPI_CIBA = (
    _CIBA,
    *(
        f"{_CIBA}-{name}"
        for name in (
            "discovery-end-point-verification",
            "user-rejects-authentication",
            "multiple-call-to-token-endpoint",
            "auth-req-id-expired",
            "ensure-authorization-request-with-binding-message-succeeds",
            "ensure-other-scope-order-succeeds",
            "ensure-requested-expiry-as-string-succeeds",
            "ensure-authorization-request-with-potentially-bad-binding-message",
            "ensure-request-object-missing-aud-fails",
            "ensure-request-object-bad-aud-fails",
            "ensure-request-object-missing-iss-fails",
            "ensure-request-object-bad-iss-fails",
            "ensure-request-object-missing-exp-fails",
            "ensure-request-object-expired-exp-fails",
            "ensure-request-object-exp-is-70-minutes-in-future-fails",
            "ensure-request-object-missing-iat-fails",
            "ensure-request-object-missing-nbf-fails",
            "ensure-request-object-nbf-is-10-minutes-in-future-fails",
            "ensure-request-object-nbf-is-70-minutes-in-past-fails",
            "ensure-request-object-missing-jti-fails",
            "ensure-request-object-signature-algorithm-is-none-fails",
            "ensure-request-object-signature-algorithm-is-bad-fails",
            "ensure-request-object-signature-algorithm-is-RS256-fails",
            "ensure-request-object-signed-by-other-client-fails",
            "ensure-authorization-request-with-multiple-hints-fails",
            "ensure-wrong-auth-req-id-in-token-endpoint-request",
            "ensure-different-client-id-and-issuer-in-backchannel-authorization-request",
            "ensure-wrong-client-id-in-token-endpoint-request",
            "ensure-wrong-client-id-in-backchannel-authorization-request",
            "ensure-without-client-assertion-in-token-endpoint-request",
            "ensure-without-client-assertion-in-backchannel-authorization-request",
            "ensure-client-assertion-signature-algorithm-in-backchannel-authorization-request-is-RS256-fails",
            "ensure-client-assertion-signature-algorithm-in-token-endpoint-request-is-RS256-fails",
            "ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds",
            "ping-backchannel-notification-endpoint-response-has-body",
            "ping-backchannel-notification-endpoint-response-401",
            "ping-backchannel-notification-endpoint-response-403",
            "ping-with-mtls-ciba-notification-endpoint-response-401-and-require-server-does-not-retry",
            "ping-backchannel-notification-endpoint-return-redirect-request",
            "ensure-backchannel-authorization-request-without-request-fails",
            "refresh-token",
            "ensure-mtls-holder-of-key-required",
        )
    ),
)
"""The modules of the FAPI-CIBA plan for fapi_ciba_profile=plain_fapi, in both modes and by both client authentications."""
