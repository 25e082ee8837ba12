import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type AttackName, attackNames } from "./attacks/attack-list.ts";
import type { Counts } from "./attacks/counts.ts";
import { openTarget } from "./attacks/open-target.ts";
import { startAttack } from "./attacks/start-attack.ts";

/**
 * As many as the product holds of one address. On loopback the kernel keeps up to 1 MB for each client
 * that does not read: ten times as many took the memory that it has for all connections of the machine.
 */
const socketsMax = 256;
const heldWanted = 200;
const holds = ({ heldMost }: Counts): boolean => heldMost >= heldWanted;
const isAnswered =
  (...statuses: number[]) =>
  ({ answers }: Counts): boolean =>
    statuses.every((status) => (answers[status] ?? 0) > 0);

/** What an attacker sees of an attack that does what its name says. */
const evidence: Record<AttackName, (counts: Counts) => boolean> = {
  "not-reading": (counts) => holds(counts) && counts.bytesRead === 0,
  "one-byte-per-second": (counts) => holds(counts) && counts.bytesRead > 0,
  "slow-headers": (counts) => holds(counts) && !isAnswered(200)(counts),
  "slow-bodies": (counts) => holds(counts) && !isAnswered(401)(counts),
  pipelining: isAnswered(200),
  "huge-headers": isAnswered(200, 431),
  "deep-json": isAnswered(422),
  exports: isAnswered(200, 429),
  streams: (counts) => isAnswered(200, 429)(counts) && counts.held >= 100,
  "sign-in-links": isAnswered(401),
  "siwe-nonces": isAnswered(200),
  // An image whose host does not answer is not found after five seconds.
  images: isAnswered(404),
  "qr-codes": isAnswered(200),
  "deep-offsets": isAnswered(200, 429),
  "invented-keys": isAnswered(401),
  notices: isAnswered(401),
  // The payer of the requests has no tokens.
  "solana-requests": isAnswered(409),
  logos: isAnswered(200),
  "not-found": isAnswered(404),
  redirects: isAnswered(308),
};

let product: Awaited<ReturnType<typeof openTarget>>;
beforeAll(async () => {
  product = await openTarget({ linkCount: 50, auditCount: 50 });
});
afterAll(() => product?.close());

describe("an attack does what its name says:", () => {
  test.each(attackNames)("%s", async (name) => {
    const run = startAttack(name, { ...product.target, addresses: ["127.0.1.1"], socketsMax });
    const seen = () => JSON.stringify(run.counts());
    try {
      await waitUntil(
        () => `${name}: ${seen()}`,
        () => evidence[name](run.counts()),
      );
    } finally {
      await run.stop();
    }
  });

  test("there are twenty of them", () => {
    expect(attackNames).toHaveLength(20);
  });
});
