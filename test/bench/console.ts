import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { createConsole } from "../rig/create-console.ts";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { launchChromium } from "../rig/chromium.ts";
import { startBenchPostgres, printProgress } from "./bench-postgres.ts";
import { type CreatedAccount, fillAccount } from "./fill-account.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const roundCount = 9;
const warmUpRounds = 2;
const shownMsMax = 60_000;

type System = Awaited<ReturnType<typeof createConsole>>;
type FilledAccount = CreatedAccount & { middleId: string };
type ConsoleUser = Awaited<ReturnType<System["signUp"]>> & { account: FilledAccount };
/**
 * A console view. `full` and `plain` are texts that appear when the view has loaded, for an account
 * with much data and for an account with almost none.
 */
type View = { name: string; path: (account: FilledAccount) => string; full: string; plain: string };

const logQuery = "?status=Failed&eventType=payment_link.completed";
const views: readonly View[] = [
  { name: "overview", path: () => "", full: "900 USDC", plain: "No payments yet." },
  { name: "links", path: () => "/links", full: "Order 1", plain: "A link" },
  {
    name: "links, a page in the middle",
    path: ({ middleId }) => `/links?before=${middleId}`,
    full: "Order 5001",
    plain: "No links yet.",
  },
  {
    name: "links, completed",
    path: () => "/links?status=completed",
    full: "Order 1",
    plain: "No link",
  },
  { name: "links, a rare word", path: () => "/links?q=Order+4999", full: "4999", plain: "No link" },
  {
    name: "links, a word without matches",
    path: () => "/links?q=teapot",
    full: "newest links",
    plain: "No link",
  },
  { name: "new link", path: () => "/links/new", full: "Create link", plain: "Create link" },
  {
    name: "one link",
    path: ({ linkId }) => `/links/${linkId}`,
    full: "payment_link.completed",
    plain: "Payments will appear here.",
  },
  {
    name: "one link, last page of payments",
    path: ({ linkId }) => `/links/${linkId}?payments=990&deliveries=990`,
    full: "payment_link.completed",
    plain: "Payments will appear here.",
  },
  {
    name: "keys",
    path: () => "/keys",
    full: "Your API keys will appear here.",
    plain: "Your API keys will appear here.",
  },
  { name: "webhooks", path: () => "/webhooks", full: "shop.com", plain: "shop.com" },
  {
    name: "endpoint",
    path: ({ endpointId }) => `/webhooks/${endpointId}`,
    full: "payment_link.completed",
    plain: "Deliveries will appear here.",
  },
  {
    name: "endpoint, failed deliveries of one type",
    path: ({ endpointId }) => `/webhooks/${endpointId}${logQuery}`,
    full: "Failed",
    plain: "Deliveries will appear here.",
  },
  {
    name: "endpoint, page 900",
    path: ({ endpointId }) => `/webhooks/${endpointId}?offset=9000`,
    full: "payment_link.completed",
    plain: "Deliveries will appear here.",
  },
  {
    name: "profile",
    path: () => "/account/profile",
    full: "Preview",
    plain: "Preview",
  },
  {
    name: "wallets",
    path: () => "/account/wallets",
    full: "Default on Base",
    plain: "Default on Base",
  },
  {
    name: "sessions",
    path: () => "/account/sessions",
    full: "Sign-in link",
    plain: "Sign-in link",
  },
  {
    name: "audit log",
    path: () => "/account/log",
    full: "api_key.changed",
    plain: "Signed in",
  },
  {
    name: "audit log, page 900",
    path: () => "/account/log?offset=9000",
    full: "api_key.changed",
    plain: "No events match.",
  },
];

/**
 * Measures the time from a click on a console view until it shows its data. Compares an account
 * with 10,000 links, 1,000 payments on one of them and 100,000 rows in each log with an account
 * that has one link and one endpoint, in turns in one Chromium. `ratio` is the worst ratio of all
 * views and should stay under 2.
 */
export const benchConsole = async (): Promise<BenchResult> => {
  const program = await ensureChromium();
  if (program === undefined) throw new Error("Chromium is required");
  await ensureConsoleBuilt({ env: process.env, report: printProgress });
  const postgres = await startBenchPostgres();
  const system = await createConsole(() => launchChromium(program));
  try {
    const users = {
      full: await createUser(system, "full"),
      plain: await createUser(system, "plain"),
    };
    printProgress("filling");
    users.full.account.middleId = await fillAccount(system, users.full.account);
    const verdicts: BenchResult[] = [];
    for (const view of views) verdicts.push(await measureView(users, view));
    const worst = verdicts.toSorted((a, b) => b.ratio - a.ratio)[0];
    if (worst === undefined) throw new Error("nothing was measured");
    return worst;
  } finally {
    await system.close();
    await postgres.close();
  }
};

/** Creates a user who has a wallet, a link and an endpoint. */
const createUser = async (system: System, handle: string): Promise<ConsoleUser> => {
  const user = await system.signUp(handle);
  // Measures with the page's own clock until the DOM change that shows the expected text.
  await user.context.addInitScript(`window.timeView = (path, text) => new Promise((resolve) => {
    const begunAt = performance.now();
    const look = () => {
      const shown = document.body?.innerText ?? "";
      if (!shown.includes(text) || shown.includes("Loading…")) return;
      observer.disconnect();
      resolve(performance.now() - begunAt);
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { childList: true, characterData: true, subtree: true });
    history.pushState(null, "", "/console" + path);
    dispatchEvent(new PopStateEvent("popstate"));
  })`);
  const post = async (path: string, data: object): Promise<Record<string, string>> => {
    const url = `${system.origin}/console/api/${path}`;
    const response = await user.context.request.post(url, { data });
    if (!response.ok()) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  await post("wallets", {
    walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    tokenId: "usdc-base",
    isDefault: true,
  });
  const link = await post("payment-links", { toAmount: "1000000", description: "A link" });
  const endpoint = await post("webhook-endpoints", { url: "https://shop.com/hook", name: "shop" });
  const accountResponse = await user.context.request.get(`${system.origin}/console/api/account`);
  const { id: userId = "" } = (await accountResponse.json()) as Record<string, string>;
  const linkId = link["id"] ?? "";
  const account = { userId, linkId, middleId: linkId, endpointId: endpoint["id"] ?? "" };
  return { ...user, account };
};

const measureView = async (
  users: Record<"full" | "plain", ConsoleUser>,
  view: View,
): Promise<BenchResult> => {
  const times = { full: [] as number[], plain: [] as number[] };
  const kinds = ["full", "plain"] as const;
  for (let round = -warmUpRounds; round < roundCount; round += 1) {
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const shownMs = await timeView(users[kind], view, view[kind]);
      if (round >= 0) times[kind].push(shownMs);
    }
  }
  const [ours, floor] = [median(times.full), median(times.plain)];
  const ratio = Number((ours / floor).toFixed(2));
  process.stdout.write(
    `${view.name.padEnd(34)} full ${ours.toFixed(0).padStart(5)} ms, ` +
      `plain ${floor.toFixed(0).padStart(5)} ms, ratio ${ratio.toFixed(2)}\n`,
  );
  return { ours: Math.round(ours), floor: Math.round(floor), ratio, view: view.name };
};

/**
 * Returns the milliseconds from navigating to a view until it is complete, in a page that has
 * loaded no other data.
 */
const timeView = async (
  { account, goTo, tab }: ConsoleUser,
  { name, path }: View,
  text: string,
): Promise<number> => {
  await goTo("/nowhere");
  await tab.waitForText("Page not found");
  const timedOut = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`${name} never showed ${text}`)), shownMsMax).unref();
  });
  const scriptArguments = [path(account) || "/", text]
    .map((argument) => JSON.stringify(argument))
    .join();
  return Number(
    await Promise.race([tab.page.evaluate(`window.timeView(${scriptArguments})`), timedOut]),
  );
};
