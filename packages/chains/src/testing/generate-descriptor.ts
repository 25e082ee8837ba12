import { randomBytes } from "node:crypto";
import { HDKey } from "@scure/bip32";

const testNetwork = { public: 0x04_35_87_cf, private: 0x04_35_83_94 };

/**
 * Generates the descriptor of a new random Bitcoin account, in the form in which a wallet stores
 * it.
 */
export const generateDescriptor = (chainId = "bitcoin"): string => {
  const isMainnet = chainId === "bitcoin";
  const root = HDKey.fromMasterSeed(randomBytes(32), isMainnet ? undefined : testNetwork);
  const account = root.derive(`m/84'/${isMainnet ? 0 : 1}'/0'`);
  return `wpkh(${account.publicExtendedKey}/0/*)`;
};
