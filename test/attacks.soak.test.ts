import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type AttackName, attackNames } from "./attacks/attack-list.ts";
import type { Counts } from "./attacks/counts.ts";
import { startTarget } from "./attacks/start-target.ts";
import { startAttack } from "./attacks/start-attack.ts";

/**
 * The product's connection limit per address. On loopback, the kernel buffers up to 1 MB for each
 * client that does not read. Ten times this many clients would exhaust the kernel's TCP memory.
 */
const socketsMax = 256;
const requiredHeldCount = 200;
const holdsEnough = ({ heldMax }: Counts): boolean => heldMax >= requiredHeldCount;
const hasResponses =
  (...statuses: number[]) =>
  ({ responses }: Counts): boolean =>
    statuses.every((status) => (responses[status] ?? 0) > 0);

/**
 * Returns whether an attack has the effect that its name describes, according to the attacker's
 * counts.
 */
const isEffective: Record<AttackName, (counts: Counts) => boolean> = {
  "not-reading": (counts) => holdsEnough(counts) && counts.bytesRead === 0,
  "one-byte-per-second": (counts) => holdsEnough(counts) && counts.bytesRead > 0,
  "slow-headers": (counts) => holdsEnough(counts) && !hasResponses(200)(counts),
  "slow-bodies": (counts) => holdsEnough(counts) && !hasResponses(401)(counts),
  pipelining: hasResponses(200),
  "huge-headers": hasResponses(200, 431),
  "deep-json": hasResponses(422),
  exports: hasResponses(200, 429),
  streams: (counts) => hasResponses(200, 429)(counts) && counts.held >= 100,
  "sign-in-links": hasResponses(401),
  "siwe-nonces": hasResponses(200),
  // The product responds with 404 if the image's host does not respond within 5 seconds.
  images: hasResponses(404),
  "qr-codes": hasResponses(200),
  "deep-offsets": hasResponses(200, 429),
  "invented-keys": hasResponses(401),
  notices: hasResponses(401),
  // The payer in these requests has no tokens.
  "solana-requests": hasResponses(409),
  logos: hasResponses(200),
  "not-found": hasResponses(404),
  redirects: hasResponses(308),
};

let product: Awaited<ReturnType<typeof startTarget>>;
beforeAll(async () => {
  product = await startTarget({ linkCount: 50, auditCount: 50 });
});
afterAll(() => product?.close());

describe("each attack has the effect that its name promises:", () => {
  test.each(attackNames)("%s", async (name) => {
    const attack = startAttack(name, { ...product.target, addresses: ["127.0.1.1"], socketsMax });
    const formatCounts = () => JSON.stringify(attack.counts());
    try {
      await waitUntil(
        () => `${name}: ${formatCounts()}`,
        () => isEffective[name](attack.counts()),
      );
    } finally {
      await attack.stop();
    }
  });

  test("there are 20 attacks", () => {
    expect(attackNames).toHaveLength(20);
  });
});
