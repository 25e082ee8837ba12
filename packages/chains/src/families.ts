import { bitcoin } from "./bitcoin/bitcoin.ts";
import type { ChainFamily } from "./chain-family.ts";
import type { ChainType } from "./chain-types.ts";
import { evm } from "./evm/evm.ts";
import { mayBePrivateKey } from "./private-key.ts";
import { solana } from "./solana/solana.ts";
import { tron } from "./tron/tron.ts";
import type { WalletApp } from "./wallet-app.ts";

const families: Readonly<Record<ChainType, ChainFamily>> = {
  EVM: evm,
  SVM: solana,
  TVM: tron,
  BVM: bitcoin,
};

type Chain = { id: string; chainType: ChainType };

/** Returns the family of a chain. */
export const getFamily = (chainType: ChainType): ChainFamily => families[chainType];

/**
 * Returns whether each link on a chain needs its own address. The id is enough, also for a chain
 * that the catalogue no longer contains, because the ids of such chains are fixed.
 */
export const needsAddressPerLink = (chainId: string): boolean =>
  Object.values(families).some(
    ({ linkAddresses }) => linkAddresses?.isSupportedChain(chainId) === true,
  );

/**
 * Returns whether two addresses of one chain family are the same, ignoring differences that have
 * no meaning in the family, such as the case of an EVM address.
 */
export const isSameAddress = (chainType: ChainType, a: string, b: string): boolean => {
  const { foldAddress } = getFamily(chainType);
  return foldAddress(a) === foldAddress(b);
};

/**
 * Why a text cannot be the address of a wallet:
 * - `private_key`: possibly a private key
 * - `single_address`: an address, but the chain needs a key that derives addresses
 * - `invalid`: anything else
 */
export type WalletFault = "private_key" | "single_address" | "invalid";

/**
 * Parses a wallet as its owner entered it: an address or, on chains with an address per link, a
 * key. Returns its canonical form. Addresses at which money would be lost are invalid: the zero
 * address, and addresses with a wrong checksum or of another chain family or network.
 */
export const parseWallet = (
  { id, chainType }: Chain,
  input: string,
): { walletAddress: string } | { fault: WalletFault } => {
  if (mayBePrivateKey(input)) return { fault: "private_key" };
  const { linkAddresses, parseAddress } = getFamily(chainType);
  const keyResult = linkAddresses?.parseKey(id, input);
  if (keyResult !== undefined && "key" in keyResult) return { walletAddress: keyResult.key };
  const addressResult = parseAddress(id, input);
  if ("fault" in addressResult) return { fault: "invalid" };
  return keyResult === undefined
    ? { walletAddress: addressResult.address }
    : { fault: "single_address" };
};

/** Lists the wallet apps that support a chain. */
export const listWalletApps = ({ id, chainType }: Chain): readonly WalletApp[] =>
  getFamily(chainType).walletApps.filter(({ chainIds }) => chainIds?.includes(id) ?? true);
