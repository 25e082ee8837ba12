import { describe, expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/chains";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sqlVoid, transact } from "@payment-links/postgres";
import { receiveLink } from "../../testing/receive-link.ts";
import { createRig } from "../../testing/create-rig.ts";
import { recordTransfers } from "../../payment-reports/record-transfers.ts";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { sampleLink } from "../../testing/samples.ts";
import { freshAddress } from "@payment-links/local-chains/solana/start-solana-chain";
import { listOwnerAddresses } from "../../store/owner-addresses.ts";
import { createOwners } from "./owners.ts";

const rig = useRig(createRig);
const chainId = "8453";
const [first, second] = ["1", "2"].map((digit) => toEip55(`0x${digit.repeat(40)}`)) as [
  string,
  string,
];

const insertOwner = (address: string, ownerChainId: string = chainId) =>
  transact(rig.pool, (tx) =>
    tx.query(
      sqlVoid`INSERT INTO owner_addresses (chain_id, address) VALUES (${ownerChainId}, ${address})`,
    ),
  );

// Guards against missed owners when a process becomes the leader again. It settles payments that
// another leader has seen before it reads any logs.
test("a process that has read all owners still learns of owners that other processes add later", async () => {
  const owners = createOwners(rig.pool, chainId);
  await insertOwner(first);
  expect(await owners.readAll()).toContain(first);
  await insertOwner(second);
  expect(await owners.readAll()).toContain(second);
});

// A dump contains transaction ids of its original cluster. In a new cluster, ids start at a few
// hundred.
test("reads owners restored from a dump once, even if their transaction ids are ahead of the cluster's", async () => {
  const restoredChainId = newId("evt");
  const insertRestoredOwner = (address: string) =>
    rig.pool.query(sqlVoid`
      INSERT INTO owner_addresses (chain_id, address, added_by)
      VALUES (${restoredChainId}, ${address}, '1000000000000')
    `);
  for (const address of [first, second]) await insertRestoredOwner(address);
  const allAddresses = await listOwnerAddresses(rig.pool, restoredChainId, "0");
  expect(allAddresses.addresses.toSorted()).toEqual([first, second].toSorted());
  const nextPage = await listOwnerAddresses(rig.pool, restoredChainId, allAddresses.until);
  expect(nextPage.addresses).toEqual([]);
  const owners = createOwners(rig.pool, restoredChainId);
  await owners.readAll();
  const thirdAddress = toEip55(`0x${"3".repeat(40)}`);
  await insertOwner(thirdAddress, restoredChainId);
  expect((await listOwnerAddresses(rig.pool, restoredChainId, nextPage.until)).addresses).toEqual([
    thirdAddress,
  ]);
  expect((await owners.readAll()).at(-1)).toBe(thirdAddress);
});

test("reads an owner that a new primary adds first, even if the old primary's transaction ids were ahead", async () => {
  const failoverChainId = newId("evt");
  let transactionIdOffset = 50n;
  const pool = {
    one: async (query: Parameters<typeof rig.pool.one>[0]) => {
      const newAddresses = (await rig.pool.one(query)) as { until: string };
      return { ...newAddresses, until: String(BigInt(newAddresses.until) + transactionIdOffset) };
    },
  } as typeof rig.pool;
  const owners = createOwners(pool, failoverChainId);
  expect(await owners.readAll()).toEqual([]);
  transactionIdOffset = 0n;
  await insertOwner(first, failoverChainId);
  expect(await owners.readAll()).toEqual([first]);
});

describe("the order of owners on Solana", () => {
  const receive = async (link: ReturnType<typeof sampleLink>) => {
    rig.clock.advance(1_000);
    await transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));
  };
  const createLinkOf = (destinationAddress: string, userId: string) =>
    sampleLink({ chainId: "solana", destinationAddress, userId });
  const listAddresses = async () => {
    const owners = await createOwners(rig.pool, "solana").readByLatestLink();
    return owners.map(({ address }) => address);
  };

  test("one account with many addresses moves no other account's address back by more than one position", async () => {
    const merchant = freshAddress();
    await receive(createLinkOf(merchant, "user_merchant"));
    const otherAddresses = Array.from({ length: 5 }, freshAddress);
    for (const address of otherAddresses) await receive(createLinkOf(address, "user_stranger"));
    expect((await listAddresses()).slice(0, 2)).toEqual([otherAddresses.at(-1), merchant]);
  });

  test("an owner is proven once a payment, but not a deposit, has settled at the address", async () => {
    const [paidAddress, depositAddress] = [freshAddress(), freshAddress()];
    for (const address of [paidAddress, depositAddress])
      await receive(createLinkOf(address, `user_${address}`));
    const transfer = { chainId: "solana", status: "settled" as const };
    await transact(rig.pool, (tx) =>
      recordTransfers(
        tx,
        [
          sampleTransfer({
            ...transfer,
            destinationAddress: paidAddress,
            payer: freshAddress(),
          }),
          sampleTransfer({
            ...transfer,
            destinationAddress: depositAddress,
            payer: freshAddress(),
            isDeposit: true,
          }),
        ],
        rig.clock.now(),
      ),
    );
    const owners = await createOwners(rig.pool, "solana").readByLatestLink();
    const isProven = new Map(owners.map((owner) => [owner.address, owner.isProven]));
    expect([isProven.get(paidAddress), isProven.get(depositAddress)]).toEqual([true, false]);
  });
});

test("lists the Solana owners whose links were received last first", async () => {
  const receive = async (link: ReturnType<typeof sampleLink>) => {
    rig.clock.advance(1_000);
    await transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));
  };
  const [earlyAddress, lateAddress] = [freshAddress(), freshAddress()];
  const link = sampleLink({ chainId: "solana", destinationAddress: earlyAddress });
  await receive(link);
  await receive(sampleLink({ chainId: "solana", destinationAddress: lateAddress }));
  const owners = createOwners(rig.pool, "solana");
  const listAddresses = async () => (await owners.readByLatestLink()).map(({ address }) => address);
  expect((await listAddresses()).slice(0, 2)).toEqual([lateAddress, earlyAddress]);
  await receive({ ...link, version: 2 });
  expect((await listAddresses()).slice(0, 2)).toEqual([earlyAddress, lateAddress]);
});
