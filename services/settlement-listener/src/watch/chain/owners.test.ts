import { describe, expect, test } from "@jest/globals";
import { newId, toEip55 } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { nothing, transact } from "@payment-links/postgres";
import { hearLink } from "../../testing/hear-link.ts";
import { openRig } from "../../testing/open-rig.ts";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { sampleLink } from "../../testing/samples.ts";
import { freshAddress } from "../../testing/solana/open-solana-chain.ts";
import { listOwnerAddresses } from "../../store/owner-addresses.ts";
import { openPayees } from "../../families/evm/reads/payees.ts";
import { openOwners } from "./owners.ts";

const rig = useRig(openRig);
const chainId = "8453";
const [first, second] = ["1", "2"].map((digit) => toEip55(`0x${digit.repeat(40)}`)) as [
  string,
  string,
];

const add = (address: string, to: string = chainId) =>
  transact(rig.pool, (tx) =>
    tx.query(nothing`INSERT INTO owner_addresses (chain_id, address) VALUES (${to}, ${address})`),
  );

// A process that has led before, and leads again: it settles what another has seen before it reads any log.
test("an owner that others have heard of since is known to a process that had read all before", async () => {
  const payees = openPayees(openOwners(rig.pool, chainId), (address) => address as `0x${string}`);
  await add(first);
  expect((await payees.known())(first)).toBe(true);
  await add(second);
  expect((await payees.known())(second)).toBe(true);
});

// A dump holds the transactions of the cluster that it was made of, and a new one begins at a few hundred.
test("owners of a dump are read once, though transactions have not come to where theirs were", async () => {
  const restored = newId("evt");
  const addRestored = (address: string) =>
    rig.pool.query(nothing`
      INSERT INTO owner_addresses (chain_id, address, added_by)
      VALUES (${restored}, ${address}, '1000000000000')
    `);
  for (const address of [first, second]) await addRestored(address);
  const all = await listOwnerAddresses(rig.pool, restored, "0");
  expect(all.addresses.toSorted()).toEqual([first, second].toSorted());
  const again = await listOwnerAddresses(rig.pool, restored, all.until);
  expect(again.addresses).toEqual([]);
  const owners = openOwners(rig.pool, restored);
  await owners.read();
  const third = toEip55(`0x${"3".repeat(40)}`);
  await add(third, restored);
  expect((await listOwnerAddresses(rig.pool, restored, again.until)).addresses).toEqual([third]);
  expect((await owners.read()).at(-1)).toBe(third);
});

test("an owner that a new primary hears of first is read, though the old one's numbers were ahead", async () => {
  const ofFailOver = newId("evt");
  let aheadBy = 50n;
  const pool = {
    one: async (query: Parameters<typeof rig.pool.one>[0]) => {
      const news = (await rig.pool.one(query)) as { until: string };
      return { ...news, until: String(BigInt(news.until) + aheadBy) };
    },
  } as typeof rig.pool;
  const owners = openOwners(pool, ofFailOver);
  expect(await owners.read()).toEqual([]);
  aheadBy = 0n;
  await add(first, ofFailOver);
  expect(await owners.read()).toEqual([first]);
});

describe("the order of owners on Solana", () => {
  const hear = async (link: ReturnType<typeof sampleLink>) => {
    rig.clock.advance(1_000);
    await transact(rig.pool, (tx) => hearLink(rig.clock)(tx, { link }));
  };
  const linkOf = (destinationAddress: string, userId: string) =>
    sampleLink({ chainId: "solana", destinationAddress, userId });
  const listed = async () => {
    const owners = await openOwners(rig.pool, "solana").readByHearing();
    return owners.map(({ address }) => address);
  };

  test("one account's many addresses move no other account's back by more than one place", async () => {
    const merchant = freshAddress();
    await hear(linkOf(merchant, "user_merchant"));
    const ofStranger = Array.from({ length: 5 }, freshAddress);
    for (const address of ofStranger) await hear(linkOf(address, "user_stranger"));
    expect((await listed()).slice(0, 2)).toEqual([ofStranger.at(-1), merchant]);
  });

  test("an owner is proven once a payment has settled at the address, and by no deposit", async () => {
    const [paid, given] = [freshAddress(), freshAddress()];
    for (const address of [paid, given]) await hear(linkOf(address, `user_${address}`));
    const transfer = { chainId: "solana", state: "settled" as const };
    await transact(rig.pool, (tx) =>
      recordTransfers(
        tx,
        [
          sampleTransfer({ ...transfer, destinationAddress: paid }),
          sampleTransfer({ ...transfer, destinationAddress: given, payer: freshAddress() }),
        ],
        rig.clock.now(),
      ),
    );
    const owners = await openOwners(rig.pool, "solana").readByHearing();
    const isProven = new Map(owners.map((one) => [one.address, one.isProven]));
    expect([isProven.get(paid), isProven.get(given)]).toEqual([true, false]);
  });
});

test("on Solana those come first whose links were heard of last", async () => {
  const hear = async (link: ReturnType<typeof sampleLink>) => {
    rig.clock.advance(1_000);
    await transact(rig.pool, (tx) => hearLink(rig.clock)(tx, { link }));
  };
  const [early, late] = [freshAddress(), freshAddress()];
  const link = sampleLink({ chainId: "solana", destinationAddress: early });
  await hear(link);
  await hear(sampleLink({ chainId: "solana", destinationAddress: late }));
  const owners = openOwners(rig.pool, "solana");
  const listed = async () => (await owners.readByHearing()).map(({ address }) => address);
  expect((await listed()).slice(0, 2)).toEqual([late, early]);
  await hear({ ...link, version: 2 });
  expect((await listed()).slice(0, 2)).toEqual([early, late]);
});
