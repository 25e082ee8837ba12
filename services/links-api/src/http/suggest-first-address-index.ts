import type { Request, Response } from "express";
import {
  type BitcoinChainId,
  FirstAddressIndexBody,
  deriveBitcoinAddresses,
  computeBitcoinKeyId,
  isBitcoinChainId,
  mayBePrivateKey,
  parseBitcoinKey,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  defaultFirstAddressIndex,
  suggestFirstAddressIndex,
} from "../domain/first-address-index.ts";
import { findNextIndex } from "../store/bitcoin-addresses.ts";

/**
 * POST /console/api/payment-links/first-address-index: suggests the index of the first address for
 * links before a Bitcoin wallet is added. The suggested index is above the addresses that a node
 * reports as used, and above the addresses that links already have.
 */
export const suggestOwnFirstAddressIndex =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { tokenId, walletAddress } = await readJsonBody(req, FirstAddressIndexBody);
    if (mayBePrivateKey(walletAddress)) throw createApiError("PRIVATE_KEY_REFUSED");
    const chainId = dependencies.catalogue.findToken(tokenId)?.chain.id;
    if (chainId === undefined || !isBitcoinChainId(chainId))
      throw createApiError("INVALID_WALLET_ADDRESS");
    const parseResult = parseBitcoinKey(chainId, walletAddress);
    if (!("descriptor" in parseResult)) throw createApiError("INVALID_WALLET_ADDRESS");
    const { descriptor } = parseResult;
    const keyId = computeBitcoinKeyId(chainId, descriptor);
    const nextIndex = (await findNextIndex(dependencies.pool, keyId)) ?? 0;
    const suggestedIndex = await suggestFromUsedAddresses(dependencies, chainId, descriptor);
    sendJson(res, 200, {
      firstAddressIndex: Math.max(nextIndex, suggestedIndex ?? defaultFirstAddressIndex),
      isChecked: suggestedIndex !== undefined,
    });
  };

const suggestFromUsedAddresses = async (
  { fetchUsedAddresses, log }: Dependencies,
  chainId: BitcoinChainId,
  descriptor: string,
): Promise<number | undefined> => {
  try {
    return await suggestFirstAddressIndex(async (range) => {
      const addresses = deriveBitcoinAddresses(chainId, descriptor, range);
      const { usedAddresses } = await fetchUsedAddresses({ chainId, addresses });
      return usedAddresses.flatMap((address) => {
        const addressOffset = addresses.indexOf(address);
        return addressOffset < 0 ? [] : [range.startIndex + addressOffset];
      });
    });
  } catch (error) {
    log.info({ err: error, chain: chainId }, "could not list used addresses");
    return undefined;
  }
};
