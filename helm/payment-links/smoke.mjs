// `helm test` runs this script. It checks from inside the cluster that a release works, and does not write data.
// Each check is retried until it passes or times out.
const releaseName = process.env.SERVICES;
const operatorHeaders = {
  authorization: `Bearer ${process.env.OPERATOR_TOKEN.split(",")[0].trim()}`,
};
const checkMsMax = 60_000;
const retryIntervalMs = 1_000;

const requestPublic = (service, path, options) =>
  sendRequest(`http://${releaseName}-${service}:8080${path}`, options);
const requestInternal = (service, path, options) =>
  sendRequest(`http://${releaseName}-${service}:8081${path}`, options);

const sendRequest = async (url, options) => {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) });
  return { status: response.status, text: await response.text() };
};

const expectResponse = async (responsePromise, expectedStatus, bodyPattern = /^/) => {
  const response = await responsePromise;
  if (response.status === expectedStatus && bodyPattern.test(response.text)) return;
  throw new Error(`got ${response.status} ${response.text.slice(0, 200)}`);
};

// A valid key that does not exist, so the services must use auth-keys, Redis and Postgres to reject it.
const unknownKey = "plk_live_0000000000000000000000000000004dYxtZ";
const unknownKeyRequest = { headers: { "x-api-key": unknownKey } };

/** Matches the metric's value if rate limits are stored in Redis. */
const usesRedisPattern = /^payment_links_rate_limit_degraded(?:\{[^}]*\})? 0$/m;

const checks = {};
for (const service of ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]) {
  checks[`${service} is ready`] = () => expectResponse(requestInternal(service, "/readyz"), 200);
  checks[`${service} serves metrics and reaches Redis`] = () =>
    expectResponse(requestInternal(service, "/metrics"), 200, usesRedisPattern);
}
Object.assign(checks, {
  "links-api returns 404 for an unknown link": () =>
    expectResponse(
      requestPublic("links-api", "/v1/payment-link/none"),
      404,
      /CANNOT_FIND_PAYMENT_LINK/,
    ),
  "links-api rejects an unknown API key by asking auth-keys": () =>
    expectResponse(
      requestPublic("links-api", "/v1/payment-link", unknownKeyRequest),
      401,
      /INVALID_API_KEY/,
    ),
  "auth-keys requires a session": () =>
    expectResponse(requestPublic("auth-keys", "/console/api/session"), 401, /UNAUTHENTICATED/),
  "webhook-dispatcher requires a session": () =>
    expectResponse(
      requestPublic("webhook-dispatcher", "/console/api/webhook-endpoints"),
      401,
      /UNAUTHENTICATED/,
    ),
  "settlement-listener rejects notices of unknown providers": () =>
    expectResponse(
      requestPublic("settlement-listener", "/settlement-notices/nobody", { method: "POST" }),
      404,
    ),
  "the internal port requires the operator token": () =>
    expectResponse(requestInternal("settlement-listener", "/internal/settlement/status"), 401),
  "the internal port accepts the operator token": () =>
    expectResponse(
      requestInternal("settlement-listener", "/internal/settlement/status", {
        headers: operatorHeaders,
      }),
      200,
    ),
});

const runCheck = async (name, check) => {
  const deadline = performance.now() + checkMsMax;
  for (;;) {
    try {
      await check();
      console.log(`ok: ${name}`);
      return true;
    } catch (error) {
      if (performance.now() > deadline) {
        console.log(`FAILED: ${name}: ${error.cause?.message ?? error.message}`);
        return false;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, retryIntervalMs));
  }
};

const results = await Promise.all(
  Object.entries(checks).map(([name, check]) => runCheck(name, check)),
);
process.exit(results.every(Boolean) ? 0 : 1);
