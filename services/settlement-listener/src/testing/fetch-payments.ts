import { createPublicClient, http, parseAbi } from "viem";
import { devnet } from "@payment-links/contracts";

const events = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
  "event TransferWithReferenceAndFee(address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);

/** How many receipts go into one request, as in the watcher's own client. */
const batchSize = 100;

/**
 * Fetches the fee proxies' logs of a chain and the receipts behind them, and does nothing with
 * them: the least that any watcher has to do. Answers how many receipts there were.
 */
export const fetchPayments = async ({
  url,
  fromBlock,
  toBlock,
  rangeBlocksMax,
}: {
  url: string;
  fromBlock: number;
  toBlock: number;
  rangeBlocksMax: number;
}): Promise<number> => {
  const client = createPublicClient({ transport: http(url, { batch: { batchSize } }) });
  let receiptCount = 0;
  for (let first = fromBlock; first <= toBlock; first += rangeBlocksMax) {
    const logs = await client.getLogs({
      address: [devnet.erc20FeeProxy, devnet.ethereumFeeProxy],
      events,
      fromBlock: BigInt(first),
      toBlock: BigInt(Math.min(toBlock, first + rangeBlocksMax - 1)),
    });
    const hashes = [...new Set(logs.map((log) => log.transactionHash))];
    const receipts = await Promise.all(
      hashes.map((hash) => client.getTransactionReceipt({ hash })),
    );
    receiptCount += receipts.length;
  }
  return receiptCount;
};
