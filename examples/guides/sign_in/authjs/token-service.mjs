// The token service as a provider of Auth.js, for @auth/express as for next-auth (OIDC Core §3.1, RFC 7636).
const ISSUER = "http://localhost:8080";

const provider = {
  id: "token-service",
  name: "Token service",
  type: "oidc",
  issuer: ISSUER,
  clientId: "authjs",
  clientSecret: "authjs-secret",
  checks: ["pkce", "state", "nonce"],
  authorization: { params: { scope: "openid profile email" } },
  idToken: false, // the claims come from the userinfo response
};

export const settings = {
  providers: [provider],
  secret: process.env.AUTH_SECRET, // the same in every process
  trustHost: true, // behind a proxy that sets X-Forwarded-Host
  callbacks: {
    // What is returned is in an encrypted cookie, which the browser cannot read.
    jwt: ({ token, account }) =>
      account ? { ...token, sub: account.providerAccountId, idToken: account.id_token } : token,
    session: ({ session, token }) => ({ ...session, user: { ...session.user, subject: token.sub } }),
    // After a sign-out here the browser may go on to the service, and to nobody else.
    redirect: ({ url, baseUrl }) => ([ISSUER, baseUrl].includes(new URL(url, baseUrl).origin) ? url : baseUrl),
  },
};

// The page of Auth.js that signs out here, and then at the service (RP-Initiated Logout 1.0 §2).
export function signOutUrl(token, home) {
  const service = new URL("/connect/endsession", ISSUER);
  service.search = new URLSearchParams({
    client_id: provider.clientId,
    post_logout_redirect_uri: home,
    ...(token?.idToken ? { id_token_hint: token.idToken } : {}),
  });
  return `/auth/signout?${new URLSearchParams({ callbackUrl: service })}`;
}
