/** Returns the URL of the tests' Redis. */
export const getTestRedisUrl = (): string => {
  const url = process.env["REDIS_URL"];
  if (url === undefined) throw new Error("tests need REDIS_URL; run them with npm test");
  return url;
};
