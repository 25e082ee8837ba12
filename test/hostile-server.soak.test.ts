import { describe } from "@jest/globals";
import { testCalls } from "./hostile-server/test-calls.ts";

describe("10,000 calls of the SDK to a server that fails in every way (rules API-19 and ERROR-4)", () => {
  testCalls(10_000);
});
