import { Webhook } from "standardwebhooks";
import { openTestGround, serveForTest } from "@payment-links/process/testing";
import { readConfig } from "@payment-links/runtime";
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
  const limit = { tokensPerSecond: 0.001, burst: 1 };
  const testGround = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    // So narrow that a limit on notices would show.
    change: { limits: { perKey: limit, perAddress: limit } },
  });
  const { clock, ground } = testGround;
  const config = readConfig(settlementListenerConfig, {
    SETTLEMENT_PROVIDER_SECRETS: `acme=${secrets.acme},acme=${secrets.acmeNext},other=${secrets.other}`,
  });
  const service = createSettlementListener(ground, config);
  const served = await serveForTest(service, ground);

  const post = (provider: string, text: string | Buffer, headers: Record<string, string>) =>
    fetch(`${served.publicUrl}/settlement-notices/${provider}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text,
    });

  return {
    ...testGround,
    metrics: ground.metrics,
    post,
    service,
    internalUrl: served.internalUrl,
    publicUrl: served.publicUrl,
    /** Sends a text as its provider would; the signature comes from a library that is not ours. */
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
      await served.close();
      await service.stop();
      await testGround.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;
