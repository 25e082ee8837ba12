import { describe, expect, test } from "@jest/globals";
import { loadCatalogue } from "../catalogue.ts";
import { createLinkBody } from "../payment-link.ts";
import { consoleOperations } from "./console.ts";
import { type Operation, listApiErrorCodes } from "./operation.ts";
import { publicLinkOperations } from "./payment-links.ts";

const now = () => new Date();
const operations: readonly Operation[] = [
  ...Object.values(publicLinkOperations(createLinkBody(now))),
  ...consoleOperations({ catalogue: loadCatalogue(), now }),
];

describe("error codes of an operation", () => {
  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    "%s lists its own failure code, or 503, for a late response (rule ERROR-3)",
    (_name, operation) => {
      const errorCodes = listApiErrorCodes(operation);
      expect(errorCodes).toContain(operation.unexpectedError ?? "SERVICE_UNAVAILABLE");
      expect(errorCodes.includes("INTERNAL_ERROR")).toBe(
        errorCodes.includes("SERVICE_UNAVAILABLE"),
      );
    },
  );
});
