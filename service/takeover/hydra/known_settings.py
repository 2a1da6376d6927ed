"""The members of a client of Hydra 2 (client.Client there, and the columns of hydra_client), and what becomes of each."""

from __future__ import annotations

from service.takeover.settings import Notice, Settings

CLIENT = Settings(
    read=frozenset(
        {
            *("client_id", "id", "client_name", "client_uri", "logo_uri", "policy_uri", "tos_uri"),
            *("jwks_uri", "jwks", "frontchannel_logout_uri", "backchannel_logout_uri"),
            *("frontchannel_logout_session_required", "backchannel_logout_session_required"),
            *("sector_identifier_uri", "request_object_signing_alg", "redirect_uris"),
            *("post_logout_redirect_uris", "allowed_cors_origins", "request_uris", "contacts"),
            *("token_endpoint_auth_method", "token_endpoint_auth_signing_alg", "client_secret"),
            *("grant_types", "response_types", "scope", "audience", "skip_consent"),
            *("access_token_strategy", "subject_type", "userinfo_signed_response_alg"),
            *("metadata", "owner"),
            *(
                f"{grant}_access_token_lifespan"
                for grant in (
                    *("authorization_code_grant", "client_credentials_grant", "implicit_grant"),
                    *("device_authorization_grant", "jwt_bearer_grant", "refresh_token_grant"),
                )
            ),
            *(
                f"{grant}_id_token_lifespan"
                for grant in (
                    *("authorization_code_grant", "implicit_grant", "refresh_token_grant"),
                    "device_authorization_grant",
                )
            ),
            *(
                f"{grant}_refresh_token_lifespan"
                for grant in (
                    *("authorization_code_grant", "refresh_token_grant"),
                    "device_authorization_grant",
                )
            ),
        }
    ),
    idle=frozenset(
        {
            *("created_at", "updated_at", "nid", "pk", "pk_deprecated"),
            *("registration_access_token", "registration_access_token_signature"),
            *("registration_client_uri", "password_grant_access_token_lifespan"),
            "password_grant_refresh_token_lifespan",
        }
    ),
    reported={
        "client_secret_expires_at": Notice(
            "a time at which the secret ends", "write expires_at of the secret in client_secrets"
        ),
        "rotated_secrets": Notice(
            "secrets of before that still count", "let the client use its newest secret"
        ),
        "skip_logout_consent": Notice(
            "a logout is confirmed where the request has no valid id_token_hint"
        ),
    },
)
