import { randomBytes } from "node:crypto";
import { HDKey } from "@scure/bip32";

const testNetwork = { public: 0x04_35_87_cf, private: 0x04_35_83_94 };

/** The key of an account of Bitcoin that nobody had before, as a wallet of ours has it. */
export const generateDescriptor = (chainId = "bitcoin"): string => {
  const isMainnet = chainId === "bitcoin";
  const root = HDKey.fromMasterSeed(randomBytes(32), isMainnet ? undefined : testNetwork);
  const account = root.derive(`m/84'/${isMainnet ? 0 : 1}'/0'`);
  return `wpkh(${account.publicExtendedKey}/0/*)`;
};
