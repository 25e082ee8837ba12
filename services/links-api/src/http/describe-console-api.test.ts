import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { consoleOperations } from "@payment-links/contracts";
import { applySettlements } from "../events/apply-settlements.ts";
import { createPublicRoutes } from "../routes.ts";
import { type Rig, createRig } from "../testing/create-rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

describe.each(["/v1/openapi.json", "/console/api/openapi.json"])("GET %s", (path) => {
  test("is valid OpenAPI 3.1 with every reference resolved (rule API-1)", async () => {
    const { json } = await rig.call(path);
    expect(await new Validator().validate(json)).toMatchObject({ valid: true });
    // Verifies that the validator detects an invalid document.
    expect(await new Validator().validate({ ...json, info: {} })).toMatchObject({ valid: false });
  });
});

/** Returns the name of the security scheme for the session cookie that is sent to a path. */
const getSessionScheme = (path: string): string => {
  if (path.startsWith("/console/api/webhook-")) return "sessionWebhooks";
  const isLinksPath = /^\/console\/api\/(payment-links|payments\.csv|deposits|overview)/.test(path);
  return isLinksPath ? "sessionLinks" : "session";
};

/** Returns the expected requirement: none, a session, or an API key with the scope. */
const getSecurity = (path: string, caller: string) => {
  if (caller === "anyone") return [];
  return caller === "session" ? [{ [getSessionScheme(path)]: [] }] : [{ apiKey: [caller] }];
};

describe("GET /console/api/openapi.json", () => {
  test("describes every console and checkout operation with its allowed callers", async () => {
    const { json } = await rig.call("/console/api/openapi.json");
    const operations = consoleOperations({
      catalogue: rig.dependencies.catalogue,
      now: () => new Date(),
    });
    for (const { caller, method, operationId, path, tag } of operations) {
      const describedOperation = json.paths[path.replaceAll(/:(\w+)/g, "{$1}")][method];
      expect(describedOperation).toMatchObject({
        operationId,
        security: getSecurity(path, caller),
        tags: [tag],
      });
    }
    const operationIds = operations.map(({ operationId }) => operationId);
    expect(new Set(operationIds).size).toBe(operationIds.length);
    const tags = new Set(operations.map(({ tag }) => tag));
    expect(json.tags.map((tag: { name: string }) => tag.name).sort()).toEqual([...tags].sort());
  });

  test("describes every JSON route of the console and the checkout in this service", () => {
    const describedRoutes = consoleOperations({
      catalogue: rig.dependencies.catalogue,
      now: () => new Date(),
    }).map(({ method, path }) => `${method} ${path}`);
    const servedRoutes = createPublicRoutes(rig.dependencies, applySettlements(rig.dependencies))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => /\/(console\/api|checkout\/(payment-links|transactions))\//.test(name))
      .filter((name) => !name.endsWith("openapi.json"));
    expect(servedRoutes.length).toBeGreaterThan(4);
    expect(describedRoutes).toEqual(expect.arrayContaining(servedRoutes));
  });
});
