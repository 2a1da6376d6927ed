// node-oidc-provider's storage on Redis, as its own example does it: one key per model, a pipeline per write.
import Redis from 'ioredis';

const consumable = new Set(['AuthorizationCode', 'RefreshToken']);
const grantable = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

export function redisAdapter(url) {
  const redis = new Redis(url, { keyPrefix: 'op:' });

  return class RedisAdapter {
    constructor(name) {
      this.name = name;
    }

    async upsert(id, payload, expiresIn) {
      const key = this.key(id);
      const record = JSON.stringify(payload);
      const writes = redis.multi();
      if (consumable.has(this.name)) writes.hset(key, { payload: record });
      else writes.set(key, record);
      if (expiresIn) writes.expire(key, expiresIn);
      if (grantable.has(this.name) && payload.grantId) {
        const index = `grant:${payload.grantId}`;
        writes.rpush(index, key);
        if (expiresIn) writes.expire(index, expiresIn);
      }
      await writes.exec();
    }

    async find(id) {
      if (!consumable.has(this.name)) {
        const record = await redis.get(this.key(id));
        return record ? JSON.parse(record) : undefined;
      }
      const { payload, ...rest } = await redis.hgetall(this.key(id));
      return payload ? { ...rest, ...JSON.parse(payload) } : undefined;
    }

    async consume(id) {
      await redis.hset(this.key(id), 'consumed', Math.floor(Date.now() / 1000));
    }

    async destroy(id) {
      await redis.del(this.key(id));
    }

    async revokeByGrantId(grantId) {
      const keys = await redis.lrange(`grant:${grantId}`, 0, -1);
      await redis.del(...keys, `grant:${grantId}`);
    }

    key(id) {
      return `${this.name}:${id}`;
    }
  };
}
