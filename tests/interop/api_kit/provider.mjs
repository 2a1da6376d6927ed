// node provider.mjs MODULES PORT: node-oidc-provider, with an API whose tokens are JWTs and one whose tokens are opaque.
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, port] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(modules, 'oidc-provider/lib/index.js')));
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

const provider = new Provider(`http://localhost:${port}`, {
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  clients: [
    { client_id: 'machine', client_secret: 'machine-secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [], token_endpoint_auth_method: 'client_secret_post' },
    { client_id: 'api', client_secret: 'api-secret', grant_types: [], redirect_uris: [], response_types: [] },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    dPoP: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'orders.read orders.write',
        accessTokenFormat: resource === 'urn:jwt' ? 'jwt' : 'opaque',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
    revocation: { enabled: true },
  },
  jwks: { keys: [{ ...key, alg: 'ES256', kid: 'k', use: 'sig' }] },
});

provider.listen(Number(port), '127.0.0.1', () => console.log('listening'));
