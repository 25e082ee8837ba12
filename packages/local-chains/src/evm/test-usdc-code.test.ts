import { expect, test } from "@jest/globals";
import { compileContracts } from "./compile-contracts.ts";
import { testUsdcCode } from "./test-usdc-code.ts";

test("testUsdcCode is the compiled bytecode of test-usdc.sol", async () => {
  const compiled = await compileContracts(new URL("test-usdc.sol", import.meta.url));
  expect(compiled["TestUsdc"]).toBe(testUsdcCode);
});
