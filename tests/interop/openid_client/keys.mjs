// The private keys that the clients of this run share.

import { readFile } from "node:fs/promises";

export async function privateKey(file, name, use) {
  const jwk = JSON.parse(await readFile(`${process.env.WORKPLACE}/${file}`));
  const { alg, kid, key_ops, use: _, ...bare } = jwk;
  return { key: await crypto.subtle.importKey("jwk", bare, { name, namedCurve: jwk.crv }, false, [use]), alg, kid };
}
