import { Webhook } from "standardwebhooks";
import { createTestContext, startTestListeners } from "@payment-links/process/testing";
import { parseConfig } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "../service.ts";

const toSecret = (letter: string): string =>
  `whsec_${Buffer.from(letter.repeat(32)).toString("base64")}`;

/**
 * The rig's secrets. `acme` is rotating from the first to the second secret, and `other` has only
 * one.
 */
export const secrets = { acme: toSecret("a"), acmeNext: toSecret("b"), other: toSecret("c") };

type NoticeOptions = {
  provider?: string;
  secret?: string;
  headers?: Record<string, string>;
  signedAt?: Date;
};

/** Creates the service with its own database and a fake clock, listening on loopback. */
export const createRig = async () => {
  const limit = { tokensPerSecond: 0.001, burst: 1 };
  const testContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    // Low enough that a test fails if this limit is applied to notices.
    overrides: { limits: { perKey: limit, perAddress: limit } },
  });
  const { clock, context } = testContext;
  const config = parseConfig(settlementListenerConfig, {
    SETTLEMENT_PROVIDER_SECRETS: `acme=${secrets.acme},acme=${secrets.acmeNext},other=${secrets.other}`,
  });
  const service = createSettlementListener(context, config);
  const server = await startTestListeners(service, context);

  const post = (provider: string, text: string | Buffer, headers: Record<string, string>) =>
    fetch(`${server.publicUrl}/settlement-notices/${provider}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text,
    });

  return {
    ...testContext,
    metrics: context.metrics,
    post,
    service,
    internalUrl: server.internalUrl,
    publicUrl: server.publicUrl,
    /** Sends a text as a provider would. An independent library signs it. */
    sendText: (text: string, options: NoticeOptions = {}) => {
      const signedAt = options.signedAt ?? clock.now();
      return post(options.provider ?? "acme", text, {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(signedAt.getTime() / 1000)),
        "webhook-signature": new Webhook(options.secret ?? secrets.acme).sign(
          "msg_1",
          signedAt,
          text,
        ),
        ...options.headers,
      });
    },
    close: async () => {
      await server.close();
      await service.stop();
      await testContext.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof createRig>>;
