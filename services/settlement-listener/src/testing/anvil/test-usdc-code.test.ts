import { expect, test } from "@jest/globals";
import { compileContracts } from "../compile-contracts.ts";
import { testUsdcCode } from "./test-usdc-code.ts";

test("the bytecode of the test USDC is that of its source", async () => {
  const compiled = await compileContracts(new URL("test-usdc.sol", import.meta.url));
  expect(compiled["TestUsdc"]).toBe(testUsdcCode);
});
