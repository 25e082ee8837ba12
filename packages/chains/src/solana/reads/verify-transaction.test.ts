import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { deriveSolanaReference, toSolanaReferenceHash } from "../payment-reference.ts";
import { createCatalogue } from "@payment-links/contracts";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import {
  type LocalSolanaChain as LocalChain,
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { parseTransaction } from "./rpc-results.ts";
import { toSolanaChain } from "./solana-chain.ts";
import { type SolanaTransaction, verifyTransaction } from "./verify-transaction.ts";

let chain: LocalChain;
let tokens: ReturnType<typeof toSolanaChain>["tokens"];
let owner: string;
const [firstReference, secondReference] = ["11".repeat(16), "22".repeat(16)].map(
  deriveSolanaReference,
) as [string, string];

beforeEach(async () => {
  chain = await startSolanaChain({ confirmedLag: 0 });
  owner = freshAddress();
  const catalogue = createCatalogue(chain.catalogueData);
  const [localChain] = catalogue.chains;
  if (localChain === undefined) throw new Error("the catalogue has no chain");
  ({ tokens } = toSolanaChain(catalogue, localChain));
});
afterEach(() => chain.close());

const createOrder = (overrides: object = {}) => ({
  to: owner,
  amount: 1_000_000n,
  references: [firstReference],
  ...overrides,
});

const mineAndRead = async (signature: string): Promise<SolanaTransaction> => {
  chain.mine();
  const rpcOptions = {
    commitment: "confirmed",
    encoding: "json",
    maxSupportedTransactionVersion: 0,
  };
  const transaction = parseTransaction(
    await callRpc(chain.url, "getTransaction", [signature, rpcOptions]),
  );
  if (transaction === null) throw new Error("no block contains it");
  return transaction;
};

/** Returns the reference, ordinal and amount of each payment that a transaction proves. */
const listProofs = (transaction: SolanaTransaction) =>
  verifyTransaction(transaction, tokens).map(({ amount, ordinal, referenceHash }) => [
    referenceHash === toSolanaReferenceHash(firstReference) ? "first" : "second",
    ordinal,
    amount.toString(),
  ]);

describe("the payments of a transaction", () => {
  test("are what its transfer moved to the owner, for the transfer's reference (rule CHAIN-2)", async () => {
    const transaction = await mineAndRead(await chain.pay(createOrder()));
    expect(verifyTransaction(transaction, tokens)).toMatchObject([
      {
        referenceHash: toSolanaReferenceHash(firstReference),
        ordinal: 0,
        tokenAddress: chain.tokens.get("usdc")?.mint,
        destinationAddress: owner,
      },
    ]);
    expect(listProofs(transaction)).toEqual([["first", 0, "1"]]);
  });

  test.each(["newer", "coin9"] as const)("are proven in the token %s", async (token) => {
    const decimals = chain.tokens.get(token)?.decimals ?? 0;
    const amount = 3n * 10n ** BigInt(decimals);
    expect(listProofs(await mineAndRead(await chain.pay(createOrder({ token, amount }))))).toEqual([
      ["first", 0, "3"],
    ]);
  });

  test("have the received amount if the token withholds a fee", async () => {
    expect(listProofs(await mineAndRead(await chain.pay(createOrder({ token: "fee" }))))).toEqual([
      ["first", 0, "0.99"],
    ]);
  });

  test("include each transfer of a batch, which a single instruction runs", async () => {
    const orders = [
      createOrder({ references: [firstReference] }),
      createOrder({ references: [secondReference], amount: 5n }),
    ];
    const transaction = await mineAndRead(await chain.payBatch(orders));
    expect(chain.readReceived(owner, "usdc")).toBe(1_000_005n);
    expect(listProofs(transaction)).toEqual([
      ["first", 0, "1"],
      ["second", 0, "0.000005"],
    ]);
  });

  test.each([4, 20, 400])(
    "are proven with %s bytes after a transfer's own data",
    async (trailingBytes) => {
      const transaction = await mineAndRead(await chain.pay(createOrder({ trailingBytes })));
      expect(chain.readReceived(owner, "usdc")).toBe(1_000_000n);
      expect(listProofs(transaction)).toEqual([["first", 0, "1"]]);
    },
  );

  test("are proven with keys in a lookup table", async () => {
    expect(
      listProofs(await mineAndRead(await chain.pay(createOrder({ usesLookupTable: true })))),
    ).toEqual([["first", 0, "1"]]);
  });

  test("use each reference's own transfer if there are several", async () => {
    const orders = [
      createOrder(),
      createOrder({ references: [secondReference], amount: 2_000_000n }),
      createOrder({ references: [], amount: 4_000_000n }),
      createOrder({ amount: 500_000n }),
    ];
    expect(listProofs(await mineAndRead(await chain.payInOneTransaction(orders)))).toEqual([
      ["first", 0, "1"],
      ["second", 0, "2"],
      ["first", 1, "0.5"],
    ]);
  });

  test("share the received amount if a fee was withheld from several transfers", async () => {
    const orders = [
      createOrder({ token: "fee" }),
      createOrder({ token: "fee", references: [secondReference] }),
    ];
    expect(listProofs(await mineAndRead(await chain.payInOneTransaction(orders)))).toEqual([
      ["first", 0, "0.99"],
      ["second", 0, "0.99"],
    ]);
  });

  test("are one per transfer, no matter how many references it has", async () => {
    const signature = await chain.pay(
      createOrder({ references: [firstReference, secondReference] }),
    );
    expect(listProofs(await mineAndRead(signature))).toEqual([["first", 0, "1"]]);
  });

  test("include transfers into another token account of the owner", async () => {
    const account = await chain.createTokenAccount(owner, "usdc");
    chain.mine();
    const orders = [createOrder(), createOrder({ account, references: [secondReference] })];
    expect(listProofs(await mineAndRead(await chain.payInOneTransaction(orders)))).toEqual([
      ["first", 0, "1"],
      ["second", 0, "1"],
    ]);
  });

  test("include a program's transfer only if the transfer itself has the reference", async () => {
    const transaction = await mineAndRead(await chain.pay(createOrder()));
    const { instructions, keys } = transaction;
    const transferInstruction = instructions.at(-1);
    if (transferInstruction === undefined) throw new Error("there is no transfer");
    const isReference = (index: number) => keys[index] === firstReference;
    // The reference is only in the calling instruction and not in the transfer, so this is no
    // payment.
    const transferWithoutReference = {
      ...transferInstruction,
      accountIndexes: transferInstruction.accountIndexes.filter((index) => !isReference(index)),
    };
    const callerInstruction = { ...transferInstruction, programIndex: 0 };
    expect(
      listProofs({ ...transaction, instructions: [callerInstruction, transferWithoutReference] }),
    ).toEqual([]);
    expect(
      listProofs({ ...transaction, instructions: [callerInstruction, transferInstruction] }),
    ).toEqual([["first", 0, "1"]]);
  });
});

describe("a transaction proves nothing", () => {
  test("if it failed", async () => {
    expect(listProofs(await mineAndRead(await chain.payFailing(createOrder())))).toEqual([]);
    const transaction = await mineAndRead(await chain.pay(createOrder()));
    expect(listProofs({ ...transaction, isSuccessful: false })).toEqual([]);
  });
  test("if it has the reference but moves nothing, or only the chain's own coin", async () => {
    expect(listProofs(await mineAndRead(await chain.payForged(createOrder())))).toEqual([]);
    expect(listProofs(await mineAndRead(await chain.payCoin(createOrder())))).toEqual([]);
  });
  test("in a token outside the catalogue", async () => {
    expect(listProofs(await mineAndRead(await chain.pay(createOrder({ token: "other" }))))).toEqual(
      [],
    );
  });
  test("if it moves 0, or if no balance confirms its instruction", async () => {
    expect(listProofs(await mineAndRead(await chain.pay(createOrder({ amount: 0n }))))).toEqual([]);
    const transaction = await mineAndRead(await chain.pay(createOrder()));
    const balances = transaction.balances.map((balance) => ({ ...balance, after: balance.before }));
    expect(listProofs({ ...transaction, balances })).toEqual([]);
  });
  test("beyond the growth of the owner's balances, whatever its instructions say (rule CHAIN-2)", async () => {
    const transaction = await mineAndRead(await chain.pay(createOrder()));
    const transferInstruction = transaction.instructions.at(-1);
    if (transferInstruction === undefined) throw new Error("there is no transfer");
    const instructions = [transferInstruction, transferInstruction];
    expect(listProofs({ ...transaction, instructions })).toEqual([
      ["first", 0, "0.5"],
      ["first", 1, "0.5"],
    ]);
  });
});

test("a payment has the owner of its source account as payer, regardless of who paid the fee (rule CALLER-42)", async () => {
  const transaction = await mineAndRead(await chain.pay(createOrder({ payer: 1 })));
  const [, ...otherKeys] = transaction.keys;
  const relayedTransaction: SolanaTransaction = {
    ...transaction,
    keys: [freshAddress(), ...otherKeys],
  };
  const [payment] = verifyTransaction(relayedTransaction, tokens);
  expect(payment).toMatchObject({ payer: chain.payers[1] });
  expect(payment).not.toHaveProperty("isDeposit");
});

describe("a transfer without a reference", () => {
  const listDeposits = (
    transaction: SolanaTransaction,
    isOwner = (address: string) => address === owner,
  ) =>
    verifyTransaction(transaction, tokens, isOwner)
      .filter(({ isDeposit }) => isDeposit === true)
      .map(({ amount, ordinal, payer }) => [ordinal, amount.toString(), payer]);

  test("is a deposit from its source account's owner, regardless of who paid the fee", async () => {
    const transaction = await mineAndRead(
      await chain.pay(createOrder({ references: [], payer: 1 })),
    );
    const relayer = freshAddress();
    const [, ...otherKeys] = transaction.keys;
    const relayedTransaction: SolanaTransaction = { ...transaction, keys: [relayer, ...otherKeys] };
    expect(listDeposits(relayedTransaction)).toEqual([[0, "1", chain.payers[1]]]);
    const balances = relayedTransaction.balances.filter((balance) => balance.owner === owner);
    expect(listDeposits({ ...relayedTransaction, balances })).toEqual([[0, "1", relayer]]);
  });

  test("is a deposit if it is part of a batch", async () => {
    const transaction = await mineAndRead(await chain.payBatch([createOrder({ references: [] })]));
    expect(listDeposits(transaction)).toEqual([[0, "1", chain.payers[0]]]);
  });

  test("is not a deposit if the recipient is not an owner, or if it has a key that has not signed", async () => {
    const transactionWithoutReference = await mineAndRead(
      await chain.pay(createOrder({ references: [] })),
    );
    expect(listDeposits(transactionWithoutReference, () => false)).toEqual([]);
    expect(
      listDeposits(
        await mineAndRead(await chain.pay(createOrder({ references: [freshAddress()] }))),
      ),
    ).toEqual([]);
  });

  test("shares the amount after fees with a payment next to it, each credited once", async () => {
    const orders = [createOrder({ token: "fee" }), createOrder({ token: "fee", references: [] })];
    const transaction = await mineAndRead(await chain.payInOneTransaction(orders));
    expect(listProofs(transaction)).toEqual([["first", 0, "0.99"]]);
    expect(listDeposits(transaction)).toEqual([[0, "0.99", chain.payers[0]]]);
  });
});
