import type { Request, Response } from "express";
import {
  type BitcoinChainId,
  FirstIndexBody,
  bitcoinAddresses,
  bitcoinKeyId,
  isBitcoinChainId,
  mayBePrivateKey,
  readBitcoinKey,
  refuse,
} from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { firstIndexUnchecked, suggestFirstIndex } from "../domain/first-index.ts";
import { findNextIndex } from "../store/bitcoin-addresses.ts";

/**
 * POST /console/api/payment-links/first-address-index: suggests the first address of a wallet on Bitcoin that
 * links get, before the wallet is added. A node says which addresses were used; links may have had others.
 */
export const suggestOwnFirstIndex =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { tokenId, walletAddress } = await readBody(req, FirstIndexBody);
    if (mayBePrivateKey(walletAddress)) throw refuse("PRIVATE_KEY_REFUSED");
    const chainId = deps.catalogue.findToken(tokenId)?.chain.id;
    if (chainId === undefined || !isBitcoinChainId(chainId)) throw refuse("INVALID_WALLET_ADDRESS");
    const reading = readBitcoinKey(chainId, walletAddress);
    if (!("descriptor" in reading)) throw refuse("INVALID_WALLET_ADDRESS");
    const { descriptor } = reading;
    const keyId = bitcoinKeyId(chainId, descriptor);
    const nextIndex = (await findNextIndex(deps.pool, keyId)) ?? 0;
    const suggested = await askNode(deps, chainId, descriptor);
    answerJson(res, 200, {
      firstAddressIndex: Math.max(nextIndex, suggested ?? firstIndexUnchecked),
      isChecked: suggested !== undefined,
    });
  };

const askNode = async (
  { askUsedAddresses, log }: Deps,
  chainId: BitcoinChainId,
  descriptor: string,
): Promise<number | undefined> => {
  try {
    return await suggestFirstIndex(async (range) => {
      const addresses = bitcoinAddresses(chainId, descriptor, range);
      const { usedAddresses } = await askUsedAddresses({ chainId, addresses });
      return usedAddresses.flatMap((address) => {
        const at = addresses.indexOf(address);
        return at < 0 ? [] : [range.from + at];
      });
    });
  } catch (error) {
    log.info({ err: error, chain: chainId }, "no node tells which addresses were used");
    return undefined;
  }
};
