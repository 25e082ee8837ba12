import { Redis } from "ioredis";
import { getTestRedisUrl } from "./test-redis-url.ts";

/** Stored in database 0, which tests use only for this purpose. */
const counterKey = "payment-links:tests:claimed-databases";

/**
 * Returns the URL of an empty Redis database that no other test uses. The Redis server of the test
 * run has more databases than one run claims. If a server has fewer databases, a new claim reuses
 * the oldest one.
 */
export const claimRedisDatabase = async (): Promise<string> => {
  const url = getTestRedisUrl();
  const redis = new Redis(url);
  try {
    const [, databaseCount] = await redis.config("GET", "databases");
    const claimedCount = await redis.incr(counterKey);
    const index = 1 + ((claimedCount - 1) % (Number(databaseCount) - 1));
    await redis.select(index);
    await redis.flushdb();
    return `${url}/${index}`;
  } finally {
    redis.disconnect();
  }
};
