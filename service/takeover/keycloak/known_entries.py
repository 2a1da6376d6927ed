"""The settings of clients, client scopes, identity providers and users of Keycloak 24 to 26 (ClientRepresentation, OIDCConfigAttributes and the like there), and what becomes of each."""

from __future__ import annotations

from service.takeover.settings import Notice, Settings

BY_UI = Notice("the look and the texts of the pages are set by ui (docs/pages.md)")
THEME = Notice(BY_UI.reason, usual=("keycloak", "keycloak.v2", "keycloak.v3", "base"))
UMA = Notice("authorization services (UMA)", "let the API decide by roles or scope")
POLLING = Notice("devices may poll each 5 seconds here", usual=("5",))
REVOKED = Notice(
    "tokens from before this time are revoked there, and count here until they expire",
    "switch when they have expired, or take the keys of before out of signing.verify_only",
)
_NO_NOTICE = Notice(
    "an admin URL, which is told of logout and revoked tokens in Keycloak's own way",
    "let the application listen to back-channel logout, and write backchannel_logout_uri",
)
_BY_ISSUER = Notice("the endpoints and keys of the provider are those of its metadata at issuer")
_NEEDS_FLOW = "see mfa_required, required_acr and allowed_users"

CLIENT = Settings(
    read=frozenset(
        {
            *("clientId", "name", "rootUrl", "baseUrl", "enabled", "clientAuthenticatorType"),
            *("secret", "redirectUris", "webOrigins", "bearerOnly", "consentRequired", "protocol"),
            *("standardFlowEnabled", "implicitFlowEnabled", "directAccessGrantsEnabled"),
            *("serviceAccountsEnabled", "authorizationServicesEnabled", "authorizationSettings"),
            *("publicClient", "frontchannelLogout", "attributes", "fullScopeAllowed"),
            *("authenticationFlowBindingOverrides", "protocolMappers"),
            *("defaultClientScopes", "optionalClientScopes"),
        }
    ),
    idle=frozenset(
        {
            *("id", "description", "surrogateAuthRequired", "alwaysDisplayInConsole", "access"),
            *("nodeReRegistrationTimeout", "registeredNodes", "defaultRoles", "directGrantsOnly"),
            *("useTemplateConfig", "useTemplateScope", "useTemplateMappers", "clientTemplate"),
        }
    ),
    reported={
        "notBefore": REVOKED,
        "adminUrl": _NO_NOTICE,
        "registrationAccessToken": Notice(
            "a token by which the client changes its own registration",
            "let it register itself here (registration), or leave it out",
        ),
        "origin": Notice("a client that comes from another system", "keep the entry up to date"),
        "type": Notice("the type of the client is not checked here"),
    },
)

CLIENT_ATTRIBUTES = Settings(
    read=frozenset(
        {
            *("acr.loa.map", "default.acr.values", "minimum.acr.value"),
            *("access.token.lifespan", "access.token.header.type.rfc9068"),
            *("client.session.idle.timeout", "client.session.max.lifespan"),
            *("client.offline.session.idle.timeout", "client.offline.session.max.lifespan"),
            *("use.refresh.tokens", "client.use.lightweight.access.token.enabled"),
            *("pkce.code.challenge.method", "require.pushed.authorization.requests"),
            *("dpop.bound.access.tokens", "tls.client.certificate.bound.access.tokens"),
            *("token.endpoint.auth.signing.alg", "jwks.url", "use.jwks.url", "jwks.string"),
            *("use.jwks.string", "jwt.credential.certificate", "jwt.credential.kid"),
            *("x509.subjectdn", "x509.allow.regex.pattern.comparison"),
            *("client.secret.expiration.time", "client.secret.rotated"),
            "client.secret.rotated.expiration.time",
            *("id.token.signed.response.alg", "user.info.response.signature.alg"),
            *("user.info.encrypted.response.alg", "user.info.encrypted.response.enc"),
            *("id.token.encrypted.response.alg", "id.token.encrypted.response.enc"),
            *("authorization.signed.response.alg", "authorization.encrypted.response.alg"),
            *("authorization.encrypted.response.enc", "request.object.required"),
            *("request.object.signature.alg", "request.object.encryption.alg"),
            *("request.object.encryption.enc", "request.uris"),
            *("frontchannel.logout.url", "frontchannel.logout.session.required"),
            *("backchannel.logout.url", "backchannel.logout.session.required"),
            *("post.logout.redirect.uris", "logoUri", "policyUri", "tosUri"),
            *("oauth2.device.authorization.grant.enabled", "oauth2.device.code.lifespan"),
            *("oidc.ciba.grant.enabled", "ciba.backchannel.token.delivery.mode"),
            "ciba.backchannel.client.notification.endpoint",
            "ciba.backchannel.auth.request.signing.alg",
            *("standard.token.exchange.enabled", "oauth2.jwt.authorization.grant.enabled"),
        }
    ),
    idle=frozenset(
        {
            *("realm_client", "gui.order", "client.secret.creation.time"),
            *("client.secret.rotated.creation.time", "client.secret.remaining.expiration.time"),
            *("jwt.credential.private.key", "sectorIdentifierUri", "consent.screen.text"),
            *("oauth2.jwt.authorization.grant.idp", "oauth2.jwt.authorization.grant.audience"),
            *("external.token.idp", "allow.userinfo.with.lightweight.access.token"),
        }
    ),
    idle_prefixes=("saml.", "saml_"),
    reported={
        "oauth2.device.polling.interval": POLLING,
        "access.token.signed.response.alg": Notice(
            "an algorithm of its own for access tokens",
            "write access_token_signing_algorithm at the APIs that the tokens are for",
        ),
        "jwt.credential.public.key": Notice(
            "a public key without a certificate", "write it into jwks of the client"
        ),
        "token.endpoint.auth.signing.max.exp": Notice(
            "how long an assertion of a client may be valid is the same for all clients"
        ),
        "exclude.session.state.from.auth.response": Notice(
            "authorization responses may have session_state"
        ),
        "exclude.issuer.from.auth.response": Notice(
            "all authorization responses have iss (RFC 9207)"
        ),
        "backchannel.logout.revoke.offline.tokens": Notice(
            "a logout does not end refresh tokens of offline_access",
            "let the application revoke its refresh token at logout (RFC 7009)",
        ),
        "logout.confirmation.enabled": Notice(
            "a logout is confirmed where the request has no valid id_token_hint"
        ),
        "client_credentials.use_refresh_token": Notice(
            "tokens of the client's own come without a refresh token (RFC 6749 §4.4.3)"
        ),
        "token.response.type.bearer.lower-case": Notice(
            "token_type is Bearer, in any case of letters (RFC 6749 §5.1)"
        ),
        "id.token.as.detached.signature": Notice(
            "the ID token of the front channel has the claims of any ID token"
        ),
        "standard.token.exchange.enableRefreshRequestedTokenType": Notice(
            "an exchange returns no refresh token",
            "let the application exchange its token again",
            usual=("no",),
        ),
        "external.token.enabled": Notice(
            "tokens of a provider are given to the client", "let it ask the provider itself"
        ),
        "allow.token.introspection.without.audience.check": Notice(
            "it may introspect tokens that are not for it",
            "add its API to those that the tokens are for, or let the API introspect",
        ),
        "client.introspection.response.allow.jwt.claim.enabled": Notice(
            "an introspection response has no member jwt"
        ),
        "login_theme": THEME,
        "display.on.consent.screen": Notice(
            "the consent page names the client, without a text of its own"
        ),
    },
)

SCOPE = Settings(
    read=frozenset({"name", "protocol", "attributes", "protocolMappers"}),
    idle=frozenset({"id", "description"}),
    reported={},
)
SCOPE_ATTRIBUTES = Settings(
    read=frozenset({"consent.screen.text", "display.on.consent.screen", "include.in.token.scope"}),
    idle=frozenset({"gui.order", "dynamic.scope.regexp"}),
    idle_prefixes=("saml",),
    reported={
        "is.dynamic.scope": Notice(
            "a scope value with a parameter", "use authorization_details (RFC 9396)"
        ),
    },
)
HIDDEN_SCOPE = {
    "display.on.consent.screen": "the consent page lists the scope, too",
    "include.in.token.scope": "the name of the scope is in `scope` where it was asked for",
}
"""Attributes that say something by `false`, and what is so here."""

PROVIDER = Settings(
    read=frozenset(
        {
            *("alias", "providerId", "enabled", "trustEmail", "linkOnly", "hideOnLogin"),
            *("displayName", "config"),
        }
    ),
    idle=frozenset({"internalId", "updateProfileFirstLoginMode", "updateProfileFirstLogin"}),
    reported={
        "storeToken": Notice("tokens of the provider are not kept for applications"),
        "addReadTokenRoleOnCreate": Notice("tokens of the provider are not kept for applications"),
        "authenticateByDefault": Notice(
            "the login page is shown first: let applications ask by acr_values=idp:NAME"
        ),
        "firstBrokerLoginFlowAlias": Notice(
            "a flow of your own at the first sign-in",
            "see link_by of the provider, and allowed_claims",
            usual=("first broker login",),
        ),
        "postBrokerLoginFlowAlias": Notice(
            "a flow after each sign-in at the provider", _NEEDS_FLOW
        ),
        "organizationId": Notice(
            "a provider of an organisation", "write a tenant, or domains of the provider"
        ),
        "types": Notice("what the provider is used for is not limited here"),
    },
)
PROVIDER_CONFIG = Settings(
    read=frozenset(
        {
            *("clientId", "clientSecret", "clientAuthMethod", "issuer", "defaultScope", "prompt"),
            *("hideOnLoginPage", "linkOnly", "filteredByClaim", "claimFilterName"),
            *("claimFilterValue", "hostedDomain", "baseUrl"),
            *("clientAssertionSigningAlg", "clientAssertionAudience"),
        }
    ),
    idle=frozenset(
        {
            *("syncMode", "guiOrder", "loginHint", "uiLocales", "pkceEnabled", "pkceMethod"),
            *("backchannelSupported", "isAccessTokenJWT", "showInAccountConsole"),
            *("requiresShortStateParameter", "disableUserInfo", "disableTypeClaimCheck"),
            *("disableNonce", "caseSensitiveOriginalUsername", "minValidityToken"),
            *("jwtX509HeadersEnabled", "sendClientIdOnLogout", "sendIdTokenOnLogout"),
            *("passMaxAge", "useJwksUrl", "validateSignature", "userIp", "offlineAccess"),
            *("acceptsPromptNoneForwardFromClient", "doNotStoreUsers", "displayIconClasses"),
            *("userIDClaim", "userNameClaim", "fullNameClaim", "givenNameClaim"),
            *("familyNameClaim", "emailClaim"),
            *("tokenUrl", "userInfoUrl", "jwksUrl", "logoutUrl"),
            *("tokenIntrospectionUrl", "metadataDescriptorUrl", "clientCertKeyProviderId"),
            *("firstBrokerLoginFlowId", "githubJsonFormat", "apiUrl"),
        }
    ),
    idle_prefixes=("kc.org.", "mtls"),
    reported={
        "authorizationUrl": _BY_ISSUER,
        "publicKeySignatureVerifier": _BY_ISSUER,
        "publicKeySignatureVerifierKeyId": _BY_ISSUER,
        "allowedClockSkew": Notice("how far clocks may differ is the same for all providers"),
        "forwardParameters": Notice("parameters of the application are not sent to the provider"),
        "supportsClientAssertions": Notice(
            "assertions of the provider for clients", "see docs/workloads.md"
        ),
    },
)

USER_KEYS = frozenset(
    {
        *("id", "username", "firstName", "lastName", "email", "emailVerified", "attributes"),
        *("enabled", "credentials", "requiredActions", "federatedIdentities", "realmRoles"),
        *("clientRoles", "groups", "serviceAccountClientId", "federationLink", "notBefore"),
        *("createdTimestamp", "totp", "disableableCredentialTypes", "access", "origin", "self"),
        *("userProfileMetadata", "clientConsents"),
    }
)
"""The members of a user; any other is reported by its name."""
GROUP = Settings(
    read=frozenset({"name", "path", "subGroups", "realmRoles", "clientRoles", "attributes"}),
    idle=frozenset({"id", "access", "description", "parentId", "subGroupCount", "type"}),
    reported={},
)
