import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { openAccount } from "./open-account.ts";
import type { Release } from "./release.ts";

const Seen = z.object({
  sent: z.number(),
  /** Not sent, because too many were under way. */
  skipped: z.number(),
  /** How often each unexpected answer or error came, by kind of connection, service and method. */
  failures: z.record(z.string(), z.number()),
  slowestMs: z.number(),
  links: z.number(),
});

/** How a load goes; ages are in milliseconds, null where there was none. */
const LoadState = Seen.extend({
  /** Since the last one was sent that failed. */
  lastFailedMs: z.number().nullable(),
  /** Since the newest payment was accepted of which a webhook came. */
  newestToldMs: z.number().nullable(),
  /** Since the oldest one was accepted of which one is missing. */
  oldestUntoldMs: z.number().nullable(),
});
export type LoadState = z.output<typeof LoadState>;

const LoadReport = Seen.extend({
  payments: z.number(),
  paymentsNeverAccepted: z.number(),
  linksCreditedWrongly: z.number(),
  wrongCredits: z.array(z.string()),
  linksMissingWebhooks: z.number(),
  webhooksMadeTwice: z.number(),
  webhookAttempts: z.object({
    all: z.number(),
    /** While another attempt at the same delivery was under way. */
    atOnce: z.number(),
    /** After one that had been answered with a 2xx. */
    afterItsEnd: z.number(),
    forged: z.number(),
    unknown: z.number(),
  }),
});
export type LoadReport = z.output<typeof LoadReport>;

/** A shop and its payers at work in a pod of their own. */
export type Load = {
  tell(): Promise<LoadState>;
  /**
   * Ends it, waits until what was accepted is credited and told, prints and answers what it saw.
   */
  end(): Promise<LoadReport>;
};

const program = "load";
const startMsMax = 60_000;
const settleMsMax = 240_000;
const pollMs = 500;

/** Starts a load over all four services; resolves once it runs. */
export const startLoad = async (release: Release, requestsPerSecond: number): Promise<Load> => {
  const { cluster, name, provider, receiverPort } = release;
  await cluster.startProgram({
    name: program,
    file: "load.mjs",
    image: release.image("links-api"),
    isReceiver: true,
    env: {
      SERVICES: name,
      SIGN_IN_TOKEN: await openAccount(release),
      PROVIDER_NAME: provider.name,
      PROVIDER_SECRET: provider.secret,
      RECEIVER_PORT: String(receiverPort),
      REQUESTS_PER_SECOND: String(requestsPerSecond),
    },
  });
  const ask = (path: string, method = "GET") => {
    const url = JSON.stringify(`http://127.0.0.1:${receiverPort}${path}`);
    const source = `console.log(await (await fetch(${url}, { method: "${method}" })).text())`;
    const node = ["node", "--input-type=module", "--eval", source];
    return cluster.kubectl(["exec", program, "--", ...node]);
  };
  const tell = async () => LoadState.parse(JSON.parse(await ask("/state")));
  await waitForRequests(tell);
  return {
    tell,
    end: async () => {
      await ask("/end", "POST");
      const printed = await cluster.endProgram(program, settleMsMax);
      process.stdout.write(printed);
      return LoadReport.parse(JSON.parse(printed));
    },
  };
};

/**
 * Throws unless every accepted payment was credited once and told once, and no webhook twice at
 * once.
 */
export const assertNothingLost = (report: LoadReport): void => {
  const { paymentsNeverAccepted, linksCreditedWrongly, webhookAttempts } = report;
  const { linksMissingWebhooks, webhooksMadeTwice } = report;
  const { atOnce, forged, unknown } = webhookAttempts;
  assert.deepEqual(
    {
      paymentsNeverAccepted,
      linksCreditedWrongly,
      linksMissingWebhooks,
      webhooksMadeTwice,
      atOnce,
      forged,
      unknown,
    },
    {
      paymentsNeverAccepted: 0,
      linksCreditedWrongly: 0,
      linksMissingWebhooks: 0,
      webhooksMadeTwice: 0,
      atOnce: 0,
      forged: 0,
      unknown: 0,
    },
  );
  assert.ok(report.payments > 0, "no payment was made");
};

/**
 * Throws unless every request was answered as it should be, and no webhook came again after its
 * 2xx.
 */
export const assertNobodyNoticed = (report: LoadReport): void => {
  assert.deepEqual(report.failures, {});
  assert.equal(report.skipped, 0);
  assert.equal(report.webhookAttempts.afterItsEnd, 0);
};

const waitForRequests = async (tell: Load["tell"]): Promise<void> => {
  const endsAtMs = performance.now() + startMsMax;
  for (;;) {
    const state = await tell().catch(() => undefined);
    if (state !== undefined && state.links > 0) return;
    if (performance.now() > endsAtMs) throw new Error("the load did not start");
    await sleep(pollMs);
  }
};
