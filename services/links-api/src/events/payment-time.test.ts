import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { SettlementState } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import {
  sampleAccount,
  sampleChainNames,
  sampleSettlement,
  start,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(openRig);
let key: Record<string, string>;
let session: Record<string, string>;
beforeAll(() => {
  const account = sampleAccount();
  key = rig.giveKey(account);
  session = rig.giveSession(account);
});

const minute = (count: number) => new Date(start.getTime() + count * 60_000);
/** The link of each test expires here. */
const expiry = minute(15);

type Step = Partial<Omit<SettlementState, "amount">>;

/** What becomes of a payment of a link by these records of its chain, in their order. */
const reasonAfter = async (steps: readonly Step[], source?: string): Promise<string | null> => {
  const id = await rig.createLink(key, { toAmount: "10", expirationDate: expiry.toISOString() });
  const transactionHash = `0x${randomBytes(32).toString("hex")}`;
  const { chainId } = usdcOnBase;
  const names = sampleChainNames({ chainId, transactionHash, linkId: id });
  for (const [index, step] of steps.entries()) {
    const version = index + 1;
    await rig.settle(
      sampleSettlement(id, {
        ...names,
        version,
        ...step,
        ...(source === undefined ? {} : { source }),
      }),
    );
  }
  const { payments } = (await rig.call(`/console/api/payment-links/${id}`, { headers: session }))
    .json;
  return payments[0].reason;
};

describe("a payment on chain that a late block holds", () => {
  test("counts if a quorum saw it in time (rule STATE-15)", async () => {
    const seen: Step = { status: "processing", occurredAt: minute(5) };
    const mined: Step = { occurredAt: minute(17), witnessedAt: minute(5) };
    expect(await reasonAfter([seen, mined])).toBeNull();
    expect(await reasonAfter([mined])).toBeNull();
  });

  test("is late if only one provider saw it in time", async () => {
    const seen: Step = { status: "processing", occurredAt: minute(5) };
    expect(await reasonAfter([seen, { occurredAt: minute(17), witnessedAt: minute(16) }])).toBe(
      "expired",
    );
  });

  test("is late if a quorum saw it at the expiry or later", async () => {
    const late: Step = { occurredAt: minute(17) };
    expect(await reasonAfter([{ ...late, witnessedAt: expiry }])).toBe("expired");
    const justInTime = new Date(expiry.getTime() - 1);
    expect(await reasonAfter([{ ...late, witnessedAt: justInTime }])).toBeNull();
  });

  test("counts by its first step where a record does not tell what a quorum saw", async () => {
    const seen: Step = { status: "processing", occurredAt: minute(5) };
    expect(await reasonAfter([seen, { occurredAt: minute(17) }])).toBeNull();
  });
});

test("a payment in a block before the expiry counts, whenever a quorum saw it", async () => {
  expect(await reasonAfter([{ occurredAt: minute(14), witnessedAt: minute(20) }])).toBeNull();
});

test("a provider's notice states its payment's time itself, in any order of arrival (rule NOTICE-4)", async () => {
  const seen: Step = { status: "processing", occurredAt: minute(5) };
  const late: Step = { occurredAt: minute(17) };
  expect(await reasonAfter([seen, late], "provider:acme")).toBe("expired");
  expect(await reasonAfter([late, seen], "provider:acme")).toBe("expired");
});
