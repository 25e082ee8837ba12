import { Redis } from "ioredis";
import { getTestRedisUrl } from "./test-redis-url.ts";

/** In database 0, which no test uses for anything else. */
const counterKey = "payment-links:tests:claimed-databases";

/**
 * Returns the URL of an empty Redis database that no other test uses. The run's own Redis has more
 * databases than a run claims; on a Redis with few of them, the oldest claim is given up first.
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
