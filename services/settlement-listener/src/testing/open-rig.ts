import { Webhook } from "standardwebhooks";
import { createLocalBus } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { createInternalApp, listen } from "@payment-links/http";
import { openPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import type { Ground } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createHeldClock, openLog, openMetrics, readConfig } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "../service.ts";

const secretOf = (letter: string): string =>
  `whsec_${Buffer.from(letter.repeat(32)).toString("base64")}`;

/** The secrets of the rig: `acme` is rotating from the first to the second; `other` has one. */
export const secrets = { acme: secretOf("a"), acmeNext: secretOf("b"), other: secretOf("c") };

type Sending = {
  provider?: string;
  secret?: string;
  headers?: Record<string, string>;
  at?: Date;
};

/** The service on a database of its own, listening on loopback, with a clock that stands still. */
export const openRig = async () => {
  const database = await createTestDatabase([settlementListenerMigration]);
  const databaseUrl = database.urlOf(settlementListenerMigration.schema);
  const logLines: string[] = [];
  const log = openLog(
    { service: "settlement-listener", level: "trace" },
    { write: (line) => void logLines.push(line) },
  );
  const pool = await openPool({
    url: databaseUrl,
    applicationName: "settlement-listener",
    connectionsMax: 12,
    log,
  });
  const clock = createHeldClock(new Date("2026-11-21T10:00:00.000Z"));
  const metrics = openMetrics("settlement-listener");
  const bus = createLocalBus();
  const limit = { tokensPerSecond: 0.001, burst: 1 };
  const ground: Ground = {
    pool,
    databaseUrl,
    bus,
    clock,
    log,
    metrics,
    limiter: createLocalLimiter({ clock }),
    limits: { perKey: limit, perAddress: limit },
    trustedProxies: [],
    ask: () => Promise.reject(new Error("nobody is asked who calls")),
    catalogue: openCatalogue(),
    baseUrl: "http://127.0.0.1",
    checkoutUrl: "http://127.0.0.1",
  };
  const config = readConfig(settlementListenerConfig, {
    SETTLEMENT_PROVIDER_SECRETS: `acme=${secrets.acme},acme=${secrets.acmeNext},other=${secrets.other}`,
  });
  const service = createSettlementListener(ground, config);
  const host = "127.0.0.1";
  const open = await listen({ handler: service.app, host, port: 0, variable: "PORT" });
  const internal = await listen({
    handler: createInternalApp({
      services: [service],
      isDraining: () => false,
      hostNames: [host],
      log,
    }),
    host,
    port: 0,
    variable: "INTERNAL_PORT",
  });

  const post = (provider: string, text: string | Buffer, headers: Record<string, string>) =>
    fetch(`http://${host}:${open.port}/settlement-notices/${provider}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text,
    });

  return {
    bus,
    clock,
    ground,
    logLines,
    metrics,
    pool,
    post,
    service,
    internalUrl: `http://${host}:${internal.port}`,
    publicUrl: `http://${host}:${open.port}`,
    /** Sends a text as its provider would, signed by a library that is not ours. */
    sendText: (text: string, sending: Sending = {}) => {
      const at = sending.at ?? clock.now();
      return post(sending.provider ?? "acme", text, {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(sending.secret ?? secrets.acme).sign("msg_1", at, text),
        ...sending.headers,
      });
    },
    close: async () => {
      await open.close();
      await internal.close();
      await service.stop();
      await bus.close();
      await pool.end();
      await database.drop();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;
