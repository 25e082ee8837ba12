import type { Request, Response } from "express";
import { getFamily, mayBePrivateKey } from "@payment-links/chains";
import { FirstAddressIndexBody, createApiError } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  defaultFirstAddressIndex,
  suggestFirstAddressIndex,
} from "../domain/first-address-index.ts";
import { findNextIndex } from "../store/link-addresses.ts";

/**
 * POST /console/api/payment-links/first-address-index: suggests the index of the first address for
 * links before a wallet is added whose links get their own addresses. The suggested index is above
 * the addresses that a node reports as used, and above the addresses that links already have.
 */
export const suggestOwnFirstAddressIndex =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { tokenId, walletAddress } = await readJsonBody(req, FirstAddressIndexBody);
    if (mayBePrivateKey(walletAddress)) throw createApiError("PRIVATE_KEY_REFUSED");
    const chain = dependencies.catalogue.findToken(tokenId)?.chain;
    const linkAddresses = chain && getFamily(chain.chainType).linkAddresses;
    if (chain === undefined || linkAddresses === undefined)
      throw createApiError("INVALID_WALLET_ADDRESS");
    const parseResult = linkAddresses.parseKey(chain.id, walletAddress);
    if (!("key" in parseResult)) throw createApiError("INVALID_WALLET_ADDRESS");
    const { key } = parseResult;
    const keyId = linkAddresses.computeKeyId(chain.id, key);
    const nextIndex = (await findNextIndex(dependencies.pool, keyId)) ?? 0;
    const suggestedIndex = await suggestFromUsedAddresses(dependencies, chain.id, (range) =>
      linkAddresses.deriveAddresses(chain.id, key, range),
    );
    sendJson(res, 200, {
      firstAddressIndex: Math.max(nextIndex, suggestedIndex ?? defaultFirstAddressIndex),
      isChecked: suggestedIndex !== undefined,
    });
  };

const suggestFromUsedAddresses = async (
  { fetchUsedAddresses, log }: Dependencies,
  chainId: string,
  deriveAddresses: (range: { startIndex: number; count: number }) => string[],
): Promise<number | undefined> => {
  try {
    return await suggestFirstAddressIndex(async (range) => {
      const addresses = deriveAddresses(range);
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
