import { createPublicClient, http, parseAbi } from "viem";
import { devnet } from "@payment-links/contracts";

const events = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
  "event TransferWithReferenceAndFee(address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);

/** The number of receipts per request. The listener's own client uses the same number. */
const batchSize = 100;

/**
 * Fetches the logs of a chain's fee proxies and their receipts, range by range, without processing
 * them. Any watch has to do at least this work.
 */
export async function* fetchPayments({
  url,
  fromBlock,
  toBlock,
  rangeBlocksMax,
}: {
  url: string;
  fromBlock: number;
  toBlock: number;
  rangeBlocksMax: number;
}) {
  const client = createPublicClient({ transport: http(url, { batch: { batchSize } }) });
  for (let rangeStart = fromBlock; rangeStart <= toBlock; rangeStart += rangeBlocksMax) {
    const rangeEnd = Math.min(toBlock, rangeStart + rangeBlocksMax - 1);
    const logs = await client.getLogs({
      address: [devnet.erc20FeeProxy, devnet.ethereumFeeProxy],
      events,
      strict: true,
      fromBlock: BigInt(rangeStart),
      toBlock: BigInt(rangeEnd),
    });
    const hashes = [...new Set(logs.map((log) => log.transactionHash))];
    const receipts = await Promise.all(
      hashes.map((hash) => client.getTransactionReceipt({ hash })),
    );
    yield { logs, receipts, lastBlock: rangeEnd };
  }
}
