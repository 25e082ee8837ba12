import assert from "node:assert/strict";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Release } from "./release.ts";
import { startShopProgram } from "./start-shop-program.ts";

const LoadCounts = z.object({
  sent: z.number(),
  /** Requests that were not sent because too many were in flight. */
  skipped: z.number(),
  /** The number of unexpected responses and errors, by connection kind, service and method. */
  failures: z.record(z.string(), z.number()),
  slowestMs: z.number(),
  links: z.number(),
});

/** The state of a load. Ages are in milliseconds, or null if there was no such event. */
const LoadState = LoadCounts.extend({
  /** The time since the last failed request was sent. */
  lastFailedMs: z.number().nullable(),
  /** The time since the provider's notice was accepted, for the newest payment with a webhook. */
  newestNotifiedMs: z.number().nullable(),
  /**
   * The time since the provider's notice was accepted, for the oldest payment with a missing
   * webhook.
   */
  oldestPendingMs: z.number().nullable(),
});
export type LoadState = z.output<typeof LoadState>;

const LoadReport = LoadCounts.extend({
  payments: z.number(),
  paymentsNeverAccepted: z.number(),
  linksCreditedWrongly: z.number(),
  wrongCredits: z.array(z.string()),
  linksMissingWebhooks: z.number(),
  webhooksMadeTwice: z.number(),
  webhookAttempts: z.object({
    all: z.number(),
    /** Webhooks that arrived during another attempt at the same delivery. */
    atOnce: z.number(),
    /** Webhooks that arrived after a 2xx response to the same webhook. */
    afterItsEnd: z.number(),
    forged: z.number(),
    unknown: z.number(),
  }),
  /**
   * The first webhooks that arrived again after a 2xx response, each with the dispatcher's delivery
   * record.
   */
  repeats: z.array(z.unknown()),
});
export type LoadReport = z.output<typeof LoadReport>;

/** A shop and its payers, which run in their own pod. */
export type Load = {
  readState(): Promise<LoadState>;
  /**
   * Ends the load, and waits until accepted payments are credited and their webhooks have arrived.
   * Prints and returns the report.
   */
  end(): Promise<LoadReport>;
};

const program = "load";
const startMsMax = 60_000;
const settleMsMax = 240_000;

/** Starts a load on all four services. Resolves when the load has started. */
export const startLoad = async (release: Release, requestsPerSecond: number): Promise<Load> => {
  const { cluster, receiverPort } = release;
  await startShopProgram(release, {
    name: program,
    file: "load.mjs",
    env: { REQUESTS_PER_SECOND: String(requestsPerSecond) },
  });
  const callLoadProgram = (path: string, method = "GET") => {
    const url = JSON.stringify(`http://127.0.0.1:${receiverPort}${path}`);
    const source = `console.log(await (await fetch(${url}, { method: "${method}" })).text())`;
    const nodeCommand = ["node", "--input-type=module", "--eval", source];
    return cluster.kubectl(["exec", program, "--", ...nodeCommand]);
  };
  const readState = async () => LoadState.parse(JSON.parse(await callLoadProgram("/state")));
  const hasStarted = async () => ((await readState().catch(() => undefined))?.links ?? 0) > 0;
  await waitUntil("the load has started", hasStarted, startMsMax);
  return {
    readState,
    end: async () => {
      await callLoadProgram("/end", "POST");
      const output = await cluster.endProgram(program, settleMsMax);
      process.stdout.write(output);
      return LoadReport.parse(JSON.parse(output));
    },
  };
};

/**
 * Asserts that every accepted payment was credited and reported exactly once, and that no webhook
 * had concurrent attempts.
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
 * Asserts that every request got the expected response, and that no webhook arrived again after a
 * 2xx response.
 */
export const assertNoDisruption = (report: LoadReport): void => {
  assert.deepEqual(report.failures, {});
  assert.equal(report.skipped, 0);
  assert.deepEqual(report.repeats, []);
};
