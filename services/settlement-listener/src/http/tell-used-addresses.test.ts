import { expect, test } from "@jest/globals";
import { serveForTest } from "@payment-links/process/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "../testing/bitcoin/fresh-address.ts";
import { needingBtcd } from "../testing/bitcoin/needing-btcd.ts";
import { openWatchedBitcoin } from "../testing/open-watched-bitcoin.ts";
import { startWatchRig } from "../testing/open-watch-rig.ts";

const { describe, program } = await needingBtcd();

const rig = useRig(async () => {
  const chain = await openWatchedBitcoin(program);
  const watch = await startWatchRig(chain);
  const served = await serveForTest(watch.service, watch.ground);
  const close = async () => {
    await served.close();
    await watch.close();
    await chain.close();
  };
  return { ...served, chain, watch, close };
});

const ask = async (body: object) => {
  const answer = await fetch(`${rig.internalUrl}/internal/settlement/used-addresses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
};

describe("POST /internal/settlement/used-addresses", () => {
  test("names the addresses that were paid, in a block or in the mempool, whoever they are of (rule CALLER-33)", async () => {
    const { chain } = rig;
    const { chainId } = chain;
    const [mined, waiting, unused] = [
      freshBitcoinAddress(),
      freshBitcoinAddress(),
      freshBitcoinAddress(),
    ];
    await chain.pay({ to: mined, amount: 1_000n });
    await chain.mine();
    await chain.pay({ to: waiting, amount: 1_000n });
    const { json, status } = await ask({ chainId, addresses: [mined, unused, waiting] });
    expect([status, json]).toEqual([200, { usedAddresses: [mined, waiting] }]);
    expect((await ask({ chainId, addresses: [unused] })).json).toEqual({ usedAddresses: [] });
  });

  test("answers 503 of a chain that is not watched here, and 422 without addresses", async () => {
    expect((await ask({ chainId: "bitcoin", addresses: ["any"] })).status).toBe(503);
    expect((await ask({ chainId: rig.chain.chainId, addresses: [] })).status).toBe(422);
  });
});
