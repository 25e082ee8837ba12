import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import * as z from "zod";
import { devnet } from "@payment-links/contracts";
import type { Environment } from "@payment-links/runtime";
import { CommandError, explainErrors, parseJson, send } from "./admin-call.ts";

type Order = {
  linkId: string;
  /** How much to pay; what remains to be paid if not given. */
  amount: string | undefined;
};

type Paid = { transactionHash: string; amount: string; paymentLinkId: string };

const timeoutMs = 30_000;

/**
 * A payment on the development chain is final after this many blocks, whatever depth the watcher
 * waits for.
 */
const finalityBlocks = 4;

/**
 * Pays a link on the development chain as a payer would: by the instructions that the checkout
 * gives to anyone, from an account that the node signs for, in test dollars minted for it. Throws
 * CommandError if the link cannot be paid that way.
 */
export const payOnDevnet = async (order: Order, environment: Environment): Promise<Paid> => {
  const { rpcUrl, publicUrl } = await findDevnet(environment);
  const { amount, amountBaseUnits, steps } = await askInstructions(publicUrl, order);
  const ask = createRpc(rpcUrl);
  const [, payer] = Addresses.parse(await ask("eth_accounts"));
  if (payer === undefined) throw new CommandError("the local devnet has no account to pay from");
  const mint = encodeMint(payer, BigInt(amountBaseUnits));
  await transact(ask, { from: payer, to: devnet.token, data: mint });
  let transactionHash = "";
  for (const { to, value, data } of steps) {
    const sent = { from: payer, to, data, value: toHex(BigInt(value)) };
    transactionHash = await transact(ask, sent);
  }
  await ask("anvil_mine", toHex(BigInt(finalityBlocks)));
  return { transactionHash, amount, paymentLinkId: order.linkId };
};

const Devnet = z.object({ rpcUrl: z.url(), publicUrl: z.url() });
const Addresses = z.array(z.string());
const Instructions = z.object({
  amount: z.string(),
  amountBaseUnits: z.string(),
  steps: z
    .array(z.object({ to: z.string(), value: z.string(), data: z.string() }))
    .min(1)
    .max(3),
});
const CheckoutLink = z.object({
  token: z.object({ symbol: z.string(), chain: z.object({ id: z.string(), name: z.string() }) }),
  instructions: Instructions.nullable(),
  reason: z.string().nullable(),
});

const findDevnet = async (environment: Environment) =>
  Devnet.parse(
    await send(
      {
        service: "settlement-listener",
        method: "GET",
        path: "/internal/devnet",
        notFound: "no local devnet runs there; npm start brings it up, without --no-devnet",
      },
      environment,
    ),
  );

const askInstructions = async (publicUrl: string, { linkId, amount }: Order) => {
  const url = new URL(`${publicUrl}/checkout/payment-links/${encodeURIComponent(linkId)}`);
  if (amount !== undefined) url.searchParams.set("amount", amount);
  const answer = await request(url, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) {
    throw new CommandError(explainErrors(text) ?? `${url.origin} answered ${answer.statusCode}`);
  }
  const { token, instructions, reason } = CheckoutLink.parse(parseJson(text));
  if (token.chain.id !== devnet.chainId) {
    throw new CommandError(
      `the link is paid in ${token.symbol} on ${token.chain.name}, not on the local devnet; ` +
        `its owner needs a default wallet with the token ${devnet.tokenId}`,
    );
  }
  if (instructions === null) throw new CommandError(`the link takes no payment: ${reason}`);
  return instructions;
};

type Rpc = (method: string, ...params: unknown[]) => Promise<unknown>;

const RpcAnswer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

const createRpc =
  (url: string): Rpc =>
  async (method, ...params) => {
    const answer = await request(url, {
      method: "POST",
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = RpcAnswer.parse(await answer.body.json());
    if (error !== undefined) throw new CommandError(`the local devnet refused: ${error.message}`);
    return result;
  };

const Receipt = z.object({ status: z.string() }).nullable();

const receiptPollMs = 50;
const receiptTriesMax = 200;

/** Sends a transaction and waits until a block holds it; the node makes a block for each. */
const transact = async (ask: Rpc, transaction: Record<string, string>): Promise<string> => {
  const hash = z.string().parse(await ask("eth_sendTransaction", transaction));
  for (let tries = 0; tries < receiptTriesMax; tries += 1) {
    const receipt = Receipt.parse(await ask("eth_getTransactionReceipt", hash));
    if (receipt?.status === "0x1") return hash;
    if (receipt !== null) throw new CommandError(`the transaction ${hash} was reverted`);
    await sleep(receiptPollMs);
  }
  throw new CommandError(`no block holds the transaction ${hash} yet`);
};

const wordDigits = 64;

/**
 * The test dollar's `mint(address to, uint256 value)`, open to anyone. Written by hand, as every
 * image has this file but not every image has viem.
 */
const encodeMint = (to: string, value: bigint): string =>
  `0x40c10f19${[to.slice(2), value.toString(16)].map((word) => word.padStart(wordDigits, "0")).join("")}`;

const toHex = (value: bigint): string => `0x${value.toString(16)}`;
