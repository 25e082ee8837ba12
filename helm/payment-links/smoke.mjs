// `helm test`: asks a running release whether it works, from inside the cluster and without writing
// anything. Each check is asked again until it holds or its time is over.
const services = process.env.SERVICES;
const bearer = { authorization: `Bearer ${process.env.OPERATOR_TOKEN.split(",")[0].trim()}` };
const checkMsMax = 60_000;
const pauseMs = 1_000;

const open = (service, path, init) => ask(`http://${services}-${service}:8080${path}`, init);
const internal = (service, path, init) => ask(`http://${services}-${service}:8081${path}`, init);

const ask = async (url, init) => {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) });
  return { status: answer.status, text: await answer.text() };
};

const answers = async (asking, status, text = /^/) => {
  const answer = await asking;
  if (answer.status === status && text.test(answer.text)) return;
  throw new Error(`answered ${answer.status} ${answer.text.slice(0, 200)}`);
};

// Of the right form, and nobody's: the services must ask auth-keys, Redis and Postgres about it.
const nobodysKey = "plk_live_0000000000000000000000000000004dYxtZ";
const withNobodysKey = { headers: { "x-api-key": nobodysKey } };

/** A metric that says so. */
const isInRedis = /^payment_links_rate_limit_degraded(?:\{[^}]*\})? 0$/m;

const checks = {};
for (const service of ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]) {
  checks[`${service} is ready`] = () => answers(internal(service, "/readyz"), 200);
  checks[`${service} reaches Redis and shows its metrics`] = () =>
    answers(internal(service, "/metrics"), 200, isInRedis);
}
Object.assign(checks, {
  "links-api knows that there is no such link": () =>
    answers(open("links-api", "/v1/payment-link/none"), 404, /CANNOT_FIND_PAYMENT_LINK/),
  "links-api asks auth-keys who is calling": () =>
    answers(open("links-api", "/v1/payment-link", withNobodysKey), 401, /INVALID_API_KEY/),
  "auth-keys lets nobody in without a session": () =>
    answers(open("auth-keys", "/console/api/session"), 401, /UNAUTHENTICATED/),
  "webhook-dispatcher lets nobody in without a session": () =>
    answers(open("webhook-dispatcher", "/console/api/webhook-endpoints"), 401, /UNAUTHENTICATED/),
  "settlement-listener takes no notice from strangers": () =>
    answers(open("settlement-listener", "/settlement-notices/nobody", { method: "POST" }), 404),
  "the internal port wants the token of operators": () =>
    answers(internal("settlement-listener", "/internal/settlement/status"), 401),
  "the internal port takes the token of operators": () =>
    answers(internal("settlement-listener", "/internal/settlement/status", { headers: bearer }), 200),
});

const hold = async (name, check) => {
  const endsAt = performance.now() + checkMsMax;
  for (;;) {
    try {
      await check();
      console.log(`ok: ${name}`);
      return true;
    } catch (error) {
      if (performance.now() > endsAt) {
        console.log(`FAILED: ${name}: ${error.cause?.message ?? error.message}`);
        return false;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

const held = await Promise.all(Object.entries(checks).map(([name, check]) => hold(name, check)));
process.exit(held.every(Boolean) ? 0 : 1);
