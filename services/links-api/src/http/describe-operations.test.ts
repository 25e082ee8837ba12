import { beforeAll, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { resolveRef } from "../testing/resolve-ref.ts";
import { createRig } from "../testing/create-rig.ts";

type Json = ReturnType<typeof JSON.parse>;

const rig = useRig(createRig);
const documents: Record<string, Json> = {};
const documentPaths = ["/v1/openapi.json", "/console/api/openapi.json"];
beforeAll(async () => {
  for (const path of documentPaths) documents[path] = (await rig.call(path)).json;
});

type DescribedResponse = { name: string; status: string; operation: Json; response: Json };

/** Every answer of every operation, under a name to find it by. */
const listResponses = (document: Json): DescribedResponse[] =>
  Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).flatMap(([method, operation]) =>
      Object.entries<Json>(operation.responses).map(([status, response]) => ({
        name: `${method} ${path} ${status}`,
        status,
        operation,
        response,
      })),
    ),
  );

const resolveReference = (document: Json, value: Json): Json =>
  value?.$ref === undefined ? value : resolveRef(document, value.$ref);

const requiredHeaders = (document: Json, { response }: DescribedResponse): string[] =>
  Object.entries<Json>(response.headers)
    .filter(([, header]) => resolveReference(document, header).required === true)
    .map(([name]) => name)
    .sort();

describe.each(documentPaths)("what %s says of every answer", (documentPath) => {
  const responses = () => listResponses(documents[documentPath]);

  test("an answer of a limit says so, but for the 404 of a path that names nothing", () => {
    const document = documents[documentPath];
    const limits = ["RateLimit", "RateLimit-Policy"];
    expect(responses().length).toBeGreaterThan(20);
    for (const described of responses()) {
      const isNotFound = described.response.description.includes("`NOT_FOUND`");
      const expected = [
        ...(isNotFound ? [] : limits),
        ...(described.status === "429" ? ["Retry-After"] : []),
        ...(described.status === "303" ? ["Location"] : []),
        "X-Request-Id",
      ];
      expect([described.name, requiredHeaders(document, described)]).toEqual([
        described.name,
        expected.sort(),
      ]);
      expect(Object.keys(described.response.headers)).toEqual(expect.arrayContaining(limits));
    }
  });

  test("what is worth a retry says how, and nothing else does (rule ERROR-4)", () => {
    for (const { response, name, operation, status } of responses()) {
      const isListNotFound = operation.operationId === "listPaymentLinks" && status === "404";
      const isInUse = response.description.includes("IDEMPOTENCY_KEY_IN_USE");
      const isRetryable = status === "429" || status >= "500" || isListNotFound || isInUse;
      const saysRetry = /^Try again|: try again/m.test(response.description);
      expect([name, saysRetry]).toEqual([
        name,
        isRetryable || response.description.includes("NOT_SETTLED"),
      ]);
    }
  });

  test("what writes says that a failure may have been none, and how a repeat is safe", () => {
    for (const { response, name, operation, status } of responses()) {
      if (status < "500" || !/^(post|patch|delete) /.test(name)) continue;
      const acceptsIdempotencyKey = operation.parameters?.some(
        (parameter: Json) => parameter.name === "Idempotency-Key",
      );
      expect([name, response.description]).toEqual([
        name,
        expect.stringContaining(
          acceptsIdempotencyKey ? "the same `Idempotency-Key`" : "may have been done",
        ),
      ]);
    }
  });

  test("tells what is answered where no operation is, and every validation code", () => {
    const { description } = documents[documentPath].info;
    for (const code of [
      "BAD_REQUEST",
      "REQUEST_TIMEOUT",
      "REQUEST_HEADERS_TOO_LARGE",
      "NOT_FOUND",
      "METHOD_NOT_ALLOWED",
      "greater_than",
    ]) {
      expect(description).toContain(`\`${code}\``);
    }
  });

  test("says of every number what bounds it, and of every amount what it is in", () => {
    const visit = (value: Json, jsonPath: string, isDescribed = false): void => {
      if (typeof value !== "object" || value === null) return;
      const hasDescription = isDescribed || typeof value.description === "string";
      const types = new Set([value.type].flat());
      if (types.has("integer")) {
        expect([jsonPath, "minimum" in value || hasDescription]).toEqual([jsonPath, true]);
      }
      if (/amount(BaseUnits)?$/i.test(jsonPath) && types.has("string"))
        expect([jsonPath, hasDescription]).toEqual([jsonPath, true]);
      for (const [name, innerSchema] of Object.entries<Json>(value.properties ?? {})) {
        visit(innerSchema, `${jsonPath}.${name}`);
      }
      for (const innerSchema of [value.anyOf ?? [], value.oneOf ?? [], value.items ?? []].flat()) {
        visit(innerSchema, jsonPath, hasDescription);
      }
    };
    const { schemas } = documents[documentPath].components;
    for (const [name, schema] of Object.entries(schemas)) visit(schema, name);
  });
});

test("the public API's document says of each of its fields what it is", () => {
  const { components } = documents["/v1/openapi.json"];
  const isSelfExplanatory = (field: Json): boolean =>
    field.$ref !== undefined || field.const !== undefined || field.items?.$ref !== undefined;
  const undescribedFields: string[] = [];
  const visit = (schema: Json, jsonPath: string): void => {
    for (const [name, field] of Object.entries<Json>(schema.properties ?? {})) {
      if (field.description === undefined && !isSelfExplanatory(field))
        undescribedFields.push(`${jsonPath}.${name}`);
      visit(field, `${jsonPath}.${name}`);
    }
    for (const innerSchema of [schema.anyOf ?? [], schema.items ?? []].flat())
      visit(innerSchema, jsonPath);
  };
  for (const [name, schema] of Object.entries(components.schemas)) visit(schema, name);
  expect(undescribedFields).toEqual([]);
});

describe("answers have the headers that are told of them", () => {
  test.each([
    ["/v1/payment-link", "get", "/v1/payment-link", 401],
    ["/v1/payment-link/%ZZ", "get", "/v1/payment-link/{id}", 404],
    ["/v1/payment-link/plink_none", "get", "/v1/payment-link/{id}", 404],
    ["/v1/payment-link?status=odd", "get", "/v1/payment-link", 401],
  ])("%s", async (path, method, template, status) => {
    const document = documents["/v1/openapi.json"];
    const response = await rig.call(path);
    const describedResponse = document.paths[template][method].responses[String(status)];
    expect(response.status).toBe(status);
    const described = {
      name: path,
      status: String(status),
      operation: {},
      response: describedResponse,
    };
    for (const name of requiredHeaders(document, described))
      expect(response.headers.has(name)).toBe(true);
  });
});

describe("a webhook as it is told", () => {
  const webhooks = (): Json[] => Object.values(documents["/v1/openapi.json"].webhooks);

  test("its signature can be checked by what is said (rule HOOK-12)", () => {
    for (const { post } of webhooks()) {
      const parameterDescriptions = Object.fromEntries(
        post.parameters.map((parameter: Json) => [parameter.name, parameter.description]),
      );
      for (const expectedText of ["`whsec_`", "period", "raw", "HMAC-SHA256", "lower-case hex"]) {
        expect(parameterDescriptions["Service-Signature"]).toContain(expectedText);
      }
      expect(parameterDescriptions["Service-Timestamp"]).toContain("300 s");
      expect(parameterDescriptions["Service-Event-Id"]).toContain("each endpoint");
      expect(parameterDescriptions["Service-Event-Id"]).toContain(
        "recognize a repeated webhook by the body's `id`",
      );
      expect(post.description).toContain("processed the `id` in its body");
      for (const { schema } of post.parameters) expect(schema.pattern).toMatch(/^\^/);
    }
  });

  test("and what ends it, and when it comes again (rules HOOK-13, HOOK-14)", () => {
    for (const { post } of webhooks()) {
      const { "2XX": receivedResponse, default: otherResponses } = post.responses;
      expect(receivedResponse.description).toContain("10 s");
      for (const expectedText of ["30 s", "5 min", "30 min", "2 h", "12 h", "redirect"]) {
        expect(otherResponses.description).toContain(expectedText);
      }
    }
  });
});
