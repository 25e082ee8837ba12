import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "@jest/globals";
import { feeProxyCodes } from "./fee-proxy-codes.ts";

const require = createRequire(import.meta.url);

/**
 * Reads the bytecode from the text of the file. Importing the factory would require a client
 * library that this project does not use.
 */
const readPackagedCode = (contract: string): string | undefined => {
  const folder = "@requestnetwork/smart-contracts/types/factories/src/contracts";
  const text = readFileSync(require.resolve(`${folder}/${contract}__factory.js`), "utf8");
  return /const _bytecode = "(0x[0-9a-f]+)"/.exec(text)?.[1];
};

test("feeProxyCodes has Request Network's own bytecode", () => {
  expect(feeProxyCodes).toEqual({
    erc20: readPackagedCode("ERC20FeeProxy"),
    ethereum: readPackagedCode("EthereumFeeProxy"),
  });
});
