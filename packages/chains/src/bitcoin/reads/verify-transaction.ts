import { hashDestinationAddress } from "../payment-reference.ts";
import { Decimal } from "@payment-links/contracts";
import type { VerifiedTransfer } from "../../reads/chain-reader.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinOutput, BitcoinTransaction } from "./parse-raw.ts";

/** Returns the owner address that a scriptPubKey (in hex) pays, or undefined. */
export type FindPayee = (script: string) => string | undefined;

/**
 * Returns the payments of a transaction. Each output to an owner's address is one payment with the
 * full value of the output. Its txid and output index identify it permanently. Outputs with a value
 * of 0 are ignored.
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
        referenceHash: hashDestinationAddress({ destinationAddress }),
        ordinal: index,
        tokenAddress: token.address,
        destinationAddress,
        amount: toAmount(value, token),
      },
    ];
  });

/** Returns whether a transaction pays any owner. */
export const paysKnownPayee = (outputs: readonly BitcoinOutput[], findPayee: FindPayee): boolean =>
  outputs.some(({ script, value }) => value > 0n && findPayee(script) !== undefined);

const toAmount = (value: bigint, { decimals }: BitcoinChain["token"]): Decimal =>
  new Decimal(value.toString()).div(new Decimal(10).pow(decimals));

export const coinbase = "coinbase";
/** More inputs than a payer's wallet needs. Each one takes 70 bytes of the stored row. */
const inputsMax = 50;

/**
 * Returns the sender of a transaction: the outputs that it spends. Each output can be spent only
 * once, so this identifies the sender. Only the first `inputsMax` inputs are included. A coinbase
 * spends no outputs.
 */
export const toSender = ({
  inputs,
  isCoinbase,
}: Pick<BitcoinTransaction, "inputs" | "isCoinbase">): string =>
  isCoinbase ? coinbase : inputs.slice(0, inputsMax).join(" ");

/** An ancestor of a transaction, with its inputs. The transaction cannot be mined without it. */
export type Ancestor = Pick<BitcoinTransaction, "txid" | "inputs">;

/** The maximum number of inputs to store for all ancestors together. */
const ancestorInputsMax = 100;

/**
 * Returns the sender of an unconfirmed transaction, including the inputs of its ancestors. If
 * another transaction spends one of these inputs, that ancestor and its descendants can never be
 * mined.
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

/** Parses a sender into the outputs that it spends and the transaction's ancestors. */
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
