import { expect, test } from "@jest/globals";
import { startTestListeners } from "@payment-links/process/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { startWatchedBitcoin } from "../testing/start-watched-bitcoin.ts";
import { startWatchRig } from "../testing/create-watch-rig.ts";

const { describe, program } = await requireBtcd();

const rig = useRig(async () => {
  const chain = await startWatchedBitcoin(program);
  const watch = await startWatchRig(chain);
  const server = await startTestListeners(watch.service, watch.context);
  const close = async () => {
    await server.close();
    await watch.close();
    await chain.close();
  };
  return { ...server, chain, watch, close };
});

const requestUsedAddresses = async (body: object) => {
  const response = await fetch(`${rig.internalUrl}/internal/settlement/used-addresses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
};

describe("POST /internal/settlement/used-addresses", () => {
  test("returns the addresses that were paid, in a block or in the mempool, regardless of their owner (rule CALLER-33)", async () => {
    const { chain } = rig;
    const { chainId } = chain;
    const [minedAddress, mempoolAddress, unusedAddress] = [
      freshBitcoinAddress(),
      freshBitcoinAddress(),
      freshBitcoinAddress(),
    ];
    await chain.pay({ to: minedAddress, amount: 1_000n });
    await chain.mine();
    await chain.pay({ to: mempoolAddress, amount: 1_000n });
    const { json, status } = await requestUsedAddresses({
      chainId,
      addresses: [minedAddress, unusedAddress, mempoolAddress],
    });
    expect([status, json]).toEqual([200, { usedAddresses: [minedAddress, mempoolAddress] }]);
    expect((await requestUsedAddresses({ chainId, addresses: [unusedAddress] })).json).toEqual({
      usedAddresses: [],
    });
  });

  test("returns 503 for a chain that is not watched, and 422 without addresses", async () => {
    expect((await requestUsedAddresses({ chainId: "bitcoin", addresses: ["any"] })).status).toBe(
      503,
    );
    expect((await requestUsedAddresses({ chainId: rig.chain.chainId, addresses: [] })).status).toBe(
      422,
    );
  });
});
