import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createCatalogue, solanaReference, solanaReferenceHash } from "@payment-links/contracts";
import { askRpc } from "../../testing/ask-rpc.ts";
import {
  type SolanaChain as LocalChain,
  freshAddress,
  openSolanaChain,
} from "../../testing/solana/open-solana-chain.ts";
import { readTransaction } from "./node-answers.ts";
import { solanaChainOf } from "./solana-chain.ts";
import { type SolanaTransaction, verifyTransaction } from "./verify-transaction.ts";

let chain: LocalChain;
let tokens: ReturnType<typeof solanaChainOf>["tokens"];
let owner: string;
const [first, second] = ["11".repeat(16), "22".repeat(16)].map(solanaReference) as [string, string];

beforeEach(async () => {
  chain = await openSolanaChain({ confirmedLag: 0 });
  owner = freshAddress();
  const catalogue = createCatalogue(chain.catalogueData);
  const [local] = catalogue.chains;
  if (local === undefined) throw new Error("the catalogue has no chain");
  ({ tokens } = solanaChainOf(catalogue, local));
});
afterEach(() => chain.close());

const order = (change: object = {}) => ({
  to: owner,
  amount: 1_000_000n,
  references: [first],
  ...change,
});

const read = async (signature: string): Promise<SolanaTransaction> => {
  chain.mine();
  const form = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0 };
  const told = readTransaction(await askRpc(chain.url, "getTransaction", [signature, form]));
  if (told === null) throw new Error("it is in no block");
  return told;
};

/** What a transaction proves: reference, number and amount. */
const proved = (transaction: SolanaTransaction) =>
  verifyTransaction(transaction, tokens).map(({ amount, ordinal, referenceHash }) => [
    referenceHash === solanaReferenceHash(first) ? "first" : "second",
    ordinal,
    amount.toString(),
  ]);

describe("a transaction proves", () => {
  test("what its transfer moved to the owner, for the reference that it names (rule CHAIN-2)", async () => {
    const transaction = await read(await chain.pay(order()));
    expect(verifyTransaction(transaction, tokens)).toMatchObject([
      {
        referenceHash: solanaReferenceHash(first),
        ordinal: 0,
        tokenAddress: chain.tokens.get("usdc")?.mint,
        destinationAddress: owner,
      },
    ]);
    expect(proved(transaction)).toEqual([["first", 0, "1"]]);
  });

  test.each(["newer", "coin9"] as const)("the same of %s", async (token) => {
    const decimals = chain.tokens.get(token)?.decimals ?? 0;
    const amount = 3n * 10n ** BigInt(decimals);
    expect(proved(await read(await chain.pay(order({ token, amount }))))).toEqual([
      ["first", 0, "3"],
    ]);
  });

  test("what arrived, where the token withholds a fee", async () => {
    expect(proved(await read(await chain.pay(order({ token: "fee" }))))).toEqual([
      ["first", 0, "0.99"],
    ]);
  });

  test("what each transfer of a batch moved to the owner, as one instruction runs them all", async () => {
    const orders = [order({ references: [first] }), order({ references: [second], amount: 5n })];
    const transaction = await read(await chain.payBatch(orders));
    expect(chain.received(owner, "usdc")).toBe(1_000_005n);
    expect(proved(transaction)).toEqual([
      ["first", 0, "1"],
      ["second", 0, "0.000005"],
    ]);
  });

  test.each([4, 20, 400])(
    "the same, with %s bytes behind a transfer's own",
    async (trailingBytes) => {
      const transaction = await read(await chain.pay(order({ trailingBytes })));
      expect(chain.received(owner, "usdc")).toBe(1_000_000n);
      expect(proved(transaction)).toEqual([["first", 0, "1"]]);
    },
  );

  test("the same, where keys stand in a look-up table", async () => {
    expect(proved(await read(await chain.pay(order({ usesTable: true }))))).toEqual([
      ["first", 0, "1"],
    ]);
  });

  test("each reference's own transfer, where there are several", async () => {
    const orders = [
      order(),
      order({ references: [second], amount: 2_000_000n }),
      order({ references: [], amount: 4_000_000n }),
      order({ amount: 500_000n }),
    ];
    expect(proved(await read(await chain.payTogether(orders)))).toEqual([
      ["first", 0, "1"],
      ["second", 0, "2"],
      ["first", 1, "0.5"],
    ]);
  });

  test("shares of what arrived, where a fee was withheld of several", async () => {
    const orders = [order({ token: "fee" }), order({ token: "fee", references: [second] })];
    expect(proved(await read(await chain.payTogether(orders)))).toEqual([
      ["first", 0, "0.99"],
      ["second", 0, "0.99"],
    ]);
  });

  test("one payment for one transfer, however many references it names", async () => {
    const signature = await chain.pay(order({ references: [first, second] }));
    expect(proved(await read(signature))).toEqual([["first", 0, "1"]]);
  });

  test("payments into another account of the owner as well", async () => {
    const account = await chain.openAccount(owner, "usdc");
    chain.mine();
    const orders = [order(), order({ account, references: [second] })];
    expect(proved(await read(await chain.payTogether(orders)))).toEqual([
      ["first", 0, "1"],
      ["second", 0, "1"],
    ]);
  });

  test("a transfer that a program made, by the keys of that very transfer", async () => {
    const transaction = await read(await chain.pay(order()));
    const { instructions, keys } = transaction;
    const moving = instructions.at(-1);
    if (moving === undefined) throw new Error("it moves nothing");
    const isReference = (index: number) => keys[index] === first;
    // The reference stands on the instruction that calls, and not on the transfer: nobody is paid.
    const bare = {
      ...moving,
      accountIndexes: moving.accountIndexes.filter((index) => !isReference(index)),
    };
    const caller = { ...moving, programIndex: 0 };
    expect(proved({ ...transaction, instructions: [caller, bare] })).toEqual([]);
    expect(proved({ ...transaction, instructions: [caller, moving] })).toEqual([["first", 0, "1"]]);
  });
});

describe("a transaction proves nothing", () => {
  test("where it failed", async () => {
    expect(proved(await read(await chain.payFailing(order())))).toEqual([]);
    const transaction = await read(await chain.pay(order()));
    expect(proved({ ...transaction, isSuccessful: false })).toEqual([]);
  });
  test("where it names the reference and moves nothing, or the chain's own coin", async () => {
    expect(proved(await read(await chain.payForged(order())))).toEqual([]);
    expect(proved(await read(await chain.payCoin(order())))).toEqual([]);
  });
  test("of a token that is in no catalogue", async () => {
    expect(proved(await read(await chain.pay(order({ token: "other" }))))).toEqual([]);
  });
  test("where nothing is moved, or by an instruction that no balance bears out", async () => {
    expect(proved(await read(await chain.pay(order({ amount: 0n }))))).toEqual([]);
    const transaction = await read(await chain.pay(order()));
    const balances = transaction.balances.map((one) => ({ ...one, after: one.before }));
    expect(proved({ ...transaction, balances })).toEqual([]);
  });
  test("more than the owner's balances have grown by, whatever its instructions say (rule CHAIN-2)", async () => {
    const transaction = await read(await chain.pay(order()));
    const moving = transaction.instructions.at(-1);
    if (moving === undefined) throw new Error("it moves nothing");
    const instructions = [moving, moving];
    expect(proved({ ...transaction, instructions })).toEqual([
      ["first", 0, "0.5"],
      ["first", 1, "0.5"],
    ]);
  });
});

describe("what an owner gets without a reference", () => {
  const deposits = (
    transaction: SolanaTransaction,
    isOwner = (address: string) => address === owner,
  ) =>
    verifyTransaction(transaction, tokens, isOwner)
      .filter(({ payer }) => payer !== undefined)
      .map(({ amount, ordinal, payer }) => [ordinal, amount.toString(), payer]);

  test("is a deposit of whose account it left, whoever paid the fee", async () => {
    const transaction = await read(await chain.pay(order({ references: [], payer: 1 })));
    const relayer = freshAddress();
    const [, ...others] = transaction.keys;
    const relayed: SolanaTransaction = { ...transaction, keys: [relayer, ...others] };
    expect(deposits(relayed)).toEqual([[0, "1", chain.payers[1]]]);
    const balances = relayed.balances.filter((one) => one.owner === owner);
    expect(deposits({ ...relayed, balances })).toEqual([[0, "1", relayer]]);
  });

  test("is one as well that a batch holds", async () => {
    const transaction = await read(await chain.payBatch([order({ references: [] })]));
    expect(deposits(transaction)).toEqual([[0, "1", chain.payers[0]]]);
  });

  test("is none of who is no owner, or where a key that has not signed follows", async () => {
    const bare = await read(await chain.pay(order({ references: [] })));
    expect(deposits(bare, () => false)).toEqual([]);
    expect(deposits(await read(await chain.pay(order({ references: [freshAddress()] }))))).toEqual(
      [],
    );
  });

  test("shares with a payment beside it what a fee leaves, each sum once", async () => {
    const orders = [order({ token: "fee" }), order({ token: "fee", references: [] })];
    const transaction = await read(await chain.payTogether(orders));
    expect(proved(transaction)).toEqual([["first", 0, "0.99"]]);
    expect(deposits(transaction)).toEqual([[0, "0.99", chain.payers[0]]]);
  });
});
