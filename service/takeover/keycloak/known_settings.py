"""The settings of a realm of Keycloak 24 to 26 (its class RealmRepresentation), and what becomes of each."""

from __future__ import annotations

from service.takeover.keycloak.known_entries import BY_UI, POLLING, REVOKED, THEME, UMA
from service.takeover.settings import Notice, Settings

_FLOW = "an authentication flow of your own", "see mfa, required_acr and allowed_users"
_BY_ADMINISTRATORS = Notice("administrators of the realm have no rights here: see admin")
_OLD = Notice("a part of exports by Keycloak before version 24", "export it by Keycloak 24 to 26")
_CODES = "apps for codes that users enrol here have 6 digits, 30 seconds and SHA-1"
_PASSKEYS = (
    "a condition on the passkeys that users may enrol",
    "leave it out: a passkey of any make may be enrolled here",
)
_NO_MAIL = Notice("this service sends no e-mail: see users.notifier")
_CREDENTIALS = Notice("credentials that wallets fetch (OpenID4VCI)", "there are none here")

REALM = Settings(
    read=frozenset(
        {
            *("realm", "enabled", "attributes", "components", "roles", "groups", "keycloakVersion"),
            *("clients", "clientScopes", "users", "federatedUsers", "organizations"),
            *("identityProviders", "identityProviderMappers", "authenticationFlows"),
            *("scopeMappings", "clientScopeMappings", "clientPolicies", "requiredActions"),
            *("defaultSignatureAlgorithm", "revokeRefreshToken", "refreshTokenMaxReuse"),
            *("accessTokenLifespan", "accessTokenLifespanForImplicitFlow", "accessCodeLifespan"),
            *("ssoSessionIdleTimeout", "ssoSessionMaxLifespan", "oauth2DeviceCodeLifespan"),
            *("clientSessionIdleTimeout", "clientSessionMaxLifespan"),
            *("offlineSessionIdleTimeout", "offlineSessionMaxLifespan"),
            *("clientOfflineSessionIdleTimeout", "clientOfflineSessionMaxLifespan"),
            *("offlineSessionMaxLifespanEnabled", "loginWithEmailAllowed"),
            *("registrationAllowed", "resetPasswordAllowed", "verifyEmail"),
            *("webAuthnPolicyRpId", "webAuthnPolicyPasswordlessRpId", "browserSecurityHeaders"),
        }
    ),
    idle=frozenset(
        {
            *("id", "sslRequired", "requiredCredentials", "registrationEmailAsUsername"),
            *("duplicateEmailsAllowed", "accessCodeLifespanUserAction", "accessCodeLifespanLogin"),
            *("actionTokenGeneratedByAdminLifespan", "actionTokenGeneratedByUserLifespan"),
            *("permanentLockout", "maxTemporaryLockouts", "bruteForceStrategy", "failureFactor"),
            *("maxFailureWaitSeconds", "minimumQuickLoginWaitSeconds", "waitIncrementSeconds"),
            *("quickLoginCheckMilliSeconds", "maxDeltaTimeSeconds"),
            *("defaultRole", "defaultRoles", "defaultGroups"),
            *("defaultDefaultClientScopes", "defaultOptionalClientScopes"),
            *("otpPolicyInitialCounter", "otpPolicyLookAheadWindow", "otpPolicyCodeReusable"),
            *("otpSupportedApplications", "supportedLocales", "defaultLocale"),
            *("eventsExpiration", "enabledEventTypes", "adminEventsDetailsEnabled"),
            *("authenticatorConfig", "clientProfiles", "organizationsEnabled"),
            *("ssoSessionIdleTimeoutRememberMe", "ssoSessionMaxLifespanRememberMe"),
            *("passwordCredentialGrantAllowed", "userCacheEnabled", "realmCacheEnabled"),
            *("social", "updateProfileOnInitialSocialLogin"),
            *("privateKey", "publicKey", "certificate", "codeSecret"),
            *(
                f"webAuthnPolicy{kind}{name}"
                for kind in ("", "Passwordless")
                for name in (
                    *("RpEntityName", "SignatureAlgorithms", "RequireResidentKey"),
                    *("UserVerificationRequirement", "CreateTimeout"),
                    "AvoidSameAuthenticatorRegister",
                )
            ),
        }
    ),
    reported={
        "notBefore": REVOKED,
        "oauth2DevicePollingInterval": POLLING,
        **dict.fromkeys(("displayName", "displayNameHtml", "localizationTexts"), BY_UI),
        **dict.fromkeys(("loginTheme", "accountTheme", "adminTheme", "emailTheme"), THEME),
        "internationalizationEnabled": Notice("the languages of the pages are those of ui.locales"),
        "smtpServer": _NO_MAIL,
        "rememberMe": Notice(
            "how long a session lasts is set by session, also for users who want to be remembered"
        ),
        "editUsernameAllowed": Notice("users do not change their names here"),
        "bruteForceProtected": Notice(
            "wrong passwords are limited by limits.login_failures and limits.lockout, and no account is locked for ever"
        ),
        "passwordPolicy": Notice("users do not set passwords here, so that there are no rules"),
        "otpPolicyType": Notice(_CODES, usual=("totp",)),
        "otpPolicyAlgorithm": Notice(_CODES, usual=("hmacsha1",)),
        "otpPolicyDigits": Notice(_CODES, usual=("6",)),
        "otpPolicyPeriod": Notice(_CODES, usual=("30",)),
        **{
            f"webAuthnPolicy{kind}{name}": Notice(*_PASSKEYS, usual=("not specified",))
            for kind in ("", "Passwordless")
            for name in (
                *("AttestationConveyancePreference", "AuthenticatorAttachment"),
                *("AcceptableAaguids", "ExtraOrigins"),
            )
        },
        **dict.fromkeys(
            ("userFederationProviders", "userFederationMappers"),
            Notice("users of another system", "see users.source: ldap (docs/users.md)"),
        ),
        **dict.fromkeys(
            ("eventsEnabled", "adminEventsEnabled"),
            Notice("events are in the log, and go out by events.webhooks (docs/audit.md)"),
        ),
        "eventsListeners": Notice(
            "a program that gets events", "see events.webhooks", usual=("['jboss-logging']",)
        ),
        "browserFlow": Notice(*_FLOW, usual=("browser",)),
        "registrationFlow": Notice(*_FLOW, usual=("registration",)),
        "directGrantFlow": Notice(*_FLOW, usual=("direct grant",)),
        "resetCredentialsFlow": Notice(*_FLOW, usual=("reset credentials",)),
        "clientAuthenticationFlow": Notice(*_FLOW, usual=("clients",)),
        "dockerAuthenticationFlow": Notice(*_FLOW, usual=("docker auth",)),
        "firstBrokerLoginFlow": Notice(*_FLOW, usual=("first broker login",)),
        "userManagedAccessAllowed": UMA,
        **dict.fromkeys(("verifiableCredentialsEnabled", "oid4VciEnabled"), _CREDENTIALS),
        "adminPermissionsEnabled": _BY_ADMINISTRATORS,
        **dict.fromkeys(("applications", "oauthClients", "applicationScopeMappings"), _OLD),
        **dict.fromkeys(("clientTemplates", "protocolMappers", "socialProviders"), _OLD),
    },
)

REALM_ATTRIBUTES = Settings(
    read=frozenset(
        {
            *("frontendUrl", "acr.loa.map", "default.acr.values", "minimum.acr.value"),
            *("cibaExpiresIn", "cibaInterval", "parRequestUriLifespan"),
        }
    ),
    idle=frozenset(
        {
            *("oauth2DeviceCodeLifespan", "oauth2DevicePollingInterval", "realmReusableOtpCode"),
            *("clientSessionIdleTimeout", "clientSessionMaxLifespan"),
            *("clientOfflineSessionIdleTimeout", "clientOfflineSessionMaxLifespan"),
            *("offlineSessionMaxLifespan", "offlineSessionMaxLifespanEnabled"),
            *("actionTokenGeneratedByAdminLifespan", "adminEventsExpiration"),
            *("displayName", "displayNameHtml", "defaultSignatureAlgorithm"),
            *("bruteForceProtected", "permanentLockout", "maxTemporaryLockouts", "failureFactor"),
            *("maxFailureWaitSeconds", "minimumQuickLoginWaitSeconds", "waitIncrementSeconds"),
            *("quickLoginCheckMilliSeconds", "maxDeltaTimeSeconds", "bruteForceStrategy"),
            *("organizationsEnabled", "userProfileEnabled", "firstBrokerLoginFlowId"),
            *("client-policies.policies", "client-policies.profiles", "oid4VciEnabled"),
            *("adminPermissionsEnabled", "adminPermissionsClientId"),
            *("verifiableCredentialsEnabled", "darkMode"),
        }
    ),
    idle_prefixes=("_browser_header.", "actionTokenGeneratedByUserLifespan", "saml", "webAuthn"),
    reported={
        "cibaBackchannelTokenDeliveryMode": Notice(
            "how a client gets its tokens says the client", usual=("poll", "ping")
        ),
        "cibaAuthRequestedUserHint": Notice(
            "a CIBA request may have any of the hints here", usual=("login_hint",)
        ),
        "shortVerificationUri": Notice("verification_uri is ISSUER/device here"),
    },
)

SECURITY_HEADERS = Settings(
    read=frozenset(),
    idle=frozenset(
        {
            *("contentSecurityPolicyReportOnly", "xContentTypeOptions", "referrerPolicy"),
            *("xRobotsTag", "xXSSProtection", "strictTransportSecurity"),
        }
    ),
    reported={
        "contentSecurityPolicy": Notice(
            "no page of another site frames the login page here",
            usual=("frame-src 'self'; frame-ancestors 'self'; object-src 'none';",),
        ),
        "xFrameOptions": Notice(
            "no page of another site frames the login page here", usual=("sameorigin", "deny")
        ),
    },
)
