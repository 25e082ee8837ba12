import { benchAuth } from "./auth.ts";
import { benchCheckoutPage } from "./checkout-page.ts";
import { benchDeepPages } from "./deep-pages.ts";
import { benchDispatch, benchDispatchTls } from "./dispatch.ts";
import { benchDispatchLatency } from "./dispatch-latency.ts";
import { benchEndurance } from "./endurance.ts";
import { benchGrowth } from "./growth.ts";
import { print, runToEnd } from "./harness.ts";
import { benchLatency } from "./latency.ts";
import { benchCreate, benchRetrieve } from "./links.ts";
import { benchReconcile } from "./reconcile.ts";
import { benchWatch } from "./watch.ts";

const benches = {
  create: benchCreate,
  retrieve: benchRetrieve,
  "deep-pages": benchDeepPages,
  auth: benchAuth,
  dispatch: benchDispatch,
  "dispatch-tls": benchDispatchTls,
  "dispatch-latency": benchDispatchLatency,
  latency: benchLatency,
  watch: benchWatch,
  growth: benchGrowth,
  endurance: benchEndurance,
  "checkout-page": benchCheckoutPage,
  reconcile: benchReconcile,
};

const name = process.argv[2] ?? "";
if (!Object.hasOwn(benches, name)) {
  process.stderr.write(`usage: npm run --silent bench -- ${Object.keys(benches).join(" | ")}\n`);
  process.exit(2);
}

const result = await runToEnd(benches[name as keyof typeof benches]);
print(JSON.stringify({ bench: name, ...result }));
