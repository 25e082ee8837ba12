import { describe, expect, test } from "@jest/globals";
import { openCatalogue } from "../catalogue.ts";
import { createLinkBody } from "../payment-link.ts";
import { consoleOperations } from "./console.ts";
import { type Operation, refusalsOf } from "./operation.ts";
import { publicLinkOperations } from "./payment-links.ts";

const now = () => new Date();
const operations: readonly Operation[] = [
  ...Object.values(publicLinkOperations(createLinkBody(now))),
  ...consoleOperations({ catalogue: openCatalogue(), now }),
];

describe("what an operation is refused with", () => {
  test.each(operations.map((one) => [one.operationId, one] as const))(
    "%s tells what a late answer is: its own failure, or else 503 (rule ERROR-3)",
    (_name, operation) => {
      const told = refusalsOf(operation);
      expect(told).toContain(operation.failure ?? "SERVICE_UNAVAILABLE");
      expect(told.includes("INTERNAL_ERROR")).toBe(told.includes("SERVICE_UNAVAILABLE"));
    },
  );
});
