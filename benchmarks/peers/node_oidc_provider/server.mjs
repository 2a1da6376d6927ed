// node server.mjs PORT REDIS_URL WORKERS: node-oidc-provider, set up for the works of benchmarks/works.py.
import cluster from 'node:cluster';
import { generateKeyPairSync } from 'node:crypto';

import Provider from 'oidc-provider';

import { redisAdapter } from './redis_adapter.mjs';

const [port, redisUrl, workers] = process.argv.slice(2);
const SECRET = 'benchmark-secret';
const HOUR = 3600;
const CALLBACK = 'https://web.example/callback';
const SCOPE = 'openid profile offline_access';

const jwk = (type, options, alg) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }),
  alg,
  kid: alg,
  use: 'sig',
});

const provider = new Provider(`http://localhost:${port}`, {
  adapter: redisAdapter(redisUrl),
  clients: [
    {
      client_id: 'web',
      client_secret: SECRET,
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      redirect_uris: [CALLBACK],
      post_logout_redirect_uris: ['https://web.example/'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    deviceFlow: { enabled: true },
    userinfo: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'api1',
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: resource.slice('urn:'.length).toUpperCase() } },
      }),
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  jwks: {
    keys: [
      jwk('rsa', { modulusLength: 2048 }, 'RS256'),
      jwk('ec', { namedCurve: 'P-256' }, 'ES256'),
    ],
  },
  rotateRefreshToken: true,
  scopes: ['openid', 'profile', 'offline_access'],
  ttl: { AccessToken: HOUR, AuthorizationCode: HOUR, ClientCredentials: HOUR, Grant: HOUR, IdToken: HOUR, RefreshToken: HOUR, Session: HOUR },
});

async function signIn(grantId) {
  const session = new provider.Session();
  session.loginAccount({ accountId: '818727' });
  session.ensureClientContainer('web');
  session.grantIdFor('web', grantId);
  await session.save(HOUR);
  return session.id;
}

// What the benchmark needs before it begins: so many sessions, codes or tokens of a user, one in each line.
provider.use(async (context, next) => {
  const kind = context.path.split('/prepared/')[1];
  if (!kind) return next();
  const client = await provider.Client.find('web');
  const made = [];
  for (let each = 0; each < Number(context.query.count); each += 1) {
    const grant = new provider.Grant({ clientId: 'web', accountId: '818727' });
    grant.addOIDCScope(SCOPE);
    if (kind === 'Session') {
      made.push(await signIn(await grant.save()));
      continue;
    }
    const granted = {
      accountId: '818727',
      authTime: Math.floor(Date.now() / 1000),
      client,
      grantId: await grant.save(),
      gty: 'authorization_code',
      scope: SCOPE,
    };
    const challenge = { codeChallenge: context.query.challenge, codeChallengeMethod: 'S256' };
    const code = { ...challenge, nonce: 'n', redirectUri: CALLBACK };
    const token = new provider[kind]({ ...granted, ...(kind === 'AuthorizationCode' ? code : {}) });
    made.push(await token.save());
  }
  context.body = made.join('\n');
});

// Each worker has keys of its own, which no opaque token needs.
if (cluster.isPrimary && Number(workers) > 1) {
  for (let each = 0; each < Number(workers); each += 1) cluster.fork();
} else {
  provider.listen(Number(port), '127.0.0.1');
}
