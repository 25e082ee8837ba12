import { expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { nothing, transact } from "@payment-links/postgres";
import { openRig } from "../../testing/open-rig.ts";
import { openPayees } from "../../families/evm/reads/payees.ts";
import { openOwners } from "./owners.ts";

const rig = useRig(openRig);
const chainId = "8453";
const [first, second] = ["1", "2"].map((digit) => toEip55(`0x${digit.repeat(40)}`)) as [
  string,
  string,
];

const add = (address: string) =>
  transact(rig.pool, (tx) =>
    tx.query(
      nothing`INSERT INTO owner_addresses (chain_id, address) VALUES (${chainId}, ${address})`,
    ),
  );

// A process that has led before, and leads again: it settles what another has seen before it reads any log.
test("an owner that others have heard of since is known to a process that had read all before", async () => {
  const payees = openPayees(openOwners(rig.pool, chainId), (address) => address as `0x${string}`);
  await add(first);
  expect((await payees.known())(first)).toBe(true);
  await add(second);
  expect((await payees.known())(second)).toBe(true);
});
