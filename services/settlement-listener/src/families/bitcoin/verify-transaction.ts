import { Decimal, computeReferenceHash } from "@payment-links/contracts";
import type { VerifiedTransfer } from "../../watch/chain-reader.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinOutput, BitcoinTransaction } from "./parse-raw.ts";

/** The address of an owner that a script (scriptPubKey, in hex) pays; undefined if it is nobody's. */
export type FindPayee = (script: string) => string | undefined;

/**
 * The payments of a transaction: each output to an owner's address is one (txid and index name it for
 * ever), and all of its value counts. An output of nothing is none.
 */
export const listTransfers = (
  { outputs }: Pick<BitcoinTransaction, "outputs">,
  findPayee: FindPayee,
  { token }: Pick<BitcoinChain, "token">,
): readonly VerifiedTransfer[] =>
  outputs.flatMap(({ script, value }, index): VerifiedTransfer[] => {
    const destinationAddress = value === 0n ? undefined : findPayee(script);
    if (destinationAddress === undefined) return [];
    return [
      {
        referenceHash: computeReferenceHash("BVM", { paymentReference: "", destinationAddress }),
        ordinal: index,
        tokenAddress: token.address,
        destinationAddress,
        amount: toAmount(value, token),
      },
    ];
  });

/** Whether a transaction pays an owner anything. */
export const paysKnownPayee = (outputs: readonly BitcoinOutput[], findPayee: FindPayee): boolean =>
  outputs.some(({ script, value }) => value > 0n && findPayee(script) !== undefined);

const toAmount = (value: bigint, { decimals }: BitcoinChain["token"]): Decimal =>
  new Decimal(value.toString()).div(new Decimal(10).pow(decimals));

export const coinbase = "coinbase";
/** More inputs than a payer's wallet needs; each is 70 bytes of a row. */
const inputsMax = 50;

/**
 * Whose transaction it is: what it spends, as each of these can be spent once. Of very many inputs the
 * first ones; a coinbase spends nothing.
 */
export const toSender = ({
  inputs,
  isCoinbase,
}: Pick<BitcoinTransaction, "inputs" | "isCoinbase">): string =>
  isCoinbase ? coinbase : inputs.slice(0, inputsMax).join(" ");

/** A transaction on which another one depends, and what it spends itself. */
export type Ancestor = Pick<BitcoinTransaction, "txid" | "inputs">;

/** More than that is not kept of all ancestors together. */
const ancestorInputsMax = 100;

/**
 * The same of one that waits, and what its ancestors spend: where another transaction spends any of that,
 * the ancestor will never be, nor what comes after it.
 */
export const toSenderWithAncestors = (
  transaction: Pick<BitcoinTransaction, "inputs" | "isCoinbase">,
  ancestors: readonly Ancestor[],
): string => {
  let remainingInputs = ancestorInputsMax;
  const formattedAncestors = ancestors.flatMap(({ inputs, txid }) => {
    const includedInputs = inputs.slice(0, remainingInputs);
    remainingInputs -= includedInputs.length;
    return includedInputs.length === 0 ? [] : [`${txid}=${includedInputs.join(" ")}`];
  });
  return [toSender(transaction), ...formattedAncestors].join(";");
};

/** What a sender spends, and on whom it depends. */
export const parseSender = (
  sender: string,
): { outpoints: readonly string[]; ancestors: readonly Ancestor[] } => {
  const [ownOutpoints = "", ...ancestorTexts] = sender.split(";");
  return {
    outpoints: ownOutpoints.split(" "),
    ancestors: ancestorTexts.map((text) => {
      const [txid = "", inputs = ""] = text.split("=");
      return { txid, inputs: inputs.split(" ") };
    }),
  };
};
