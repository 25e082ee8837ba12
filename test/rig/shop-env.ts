/** The payment provider whose notices are sent in full-system tests. */
export const acmeProvider = { provider: "acme", secret: "whsec_c2V0dGxlbWVudC1ub3RpY2VzLXRlc3Q=" };

/** The key that seals webhook secrets in full-system tests. */
export const sealingKeyEntry = `test=${Buffer.alloc(32, 7).toString("base64")}`;

/**
 * Returns settings that configure `acme` as a payment provider and `receiver.test` as a receiver on
 * loopback.
 */
export const buildShopEnv = (receiver: { port: number }) => ({
  SETTLEMENT_PROVIDER_SECRETS: `${acmeProvider.provider}=${acmeProvider.secret}`,
  WEBHOOK_SECRET_KEYS: sealingKeyEntry,
  WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${receiver.port}`,
});

/** Settings with rate limits that are too high for a test or bench to reach. */
export const unlimitedEnv = {
  RATE_LIMIT_PER_IP: "100000:100000",
  RATE_LIMIT_PER_KEY: "100000:100000",
  RATE_LIMIT_NOTICES_PER_IP: "100000:100000",
};
