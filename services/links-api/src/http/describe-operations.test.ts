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

/** Lists every response of every operation with a name. */
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

describe.each(documentPaths)("the responses in %s", (documentPath) => {
  const responses = () => listResponses(documents[documentPath]);

  test("include rate limit headers, except for the 404 of an unknown path", () => {
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

  test("describe a retry if it is useful, and only then (rule ERROR-4)", () => {
    for (const { response, name, operation, status } of responses()) {
      const isListNotFound = operation.operationId === "listPaymentLinks" && status === "404";
      const isInUse = response.description.includes("IDEMPOTENCY_KEY_IN_USE");
      const isRetryable = status === "429" || status >= "500" || isListNotFound || isInUse;
      const saysRetry = /(?:^|\. )Try again/m.test(response.description);
      expect([name, saysRetry]).toEqual([
        name,
        isRetryable || response.description.includes("NOT_SETTLED"),
      ]);
    }
  });

  test("of write operations state that a failed request may have succeeded, and how to repeat it safely", () => {
    for (const { response, name, operation, status } of responses()) {
      if (status < "500" || !/^(post|patch|delete) /.test(name)) continue;
      const acceptsIdempotencyKey = operation.parameters?.some(
        (parameter: Json) => parameter.name === "Idempotency-Key",
      );
      expect([name, response.description]).toEqual([
        name,
        expect.stringContaining(
          acceptsIdempotencyKey ? "the same `Idempotency-Key`" : "may have succeeded",
        ),
      ]);
    }
  });

  test("include the errors outside of operations, and every validation code", () => {
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

  test("include the bounds of every number and the unit of every amount", () => {
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

test("the public API's document describes each of its fields", () => {
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

describe("responses include the headers that the document requires", () => {
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

describe("a webhook in the document", () => {
  const webhooks = (): Json[] => Object.values(documents["/v1/openapi.json"].webhooks);

  test("describes how to verify its signature (rule HOOK-12)", () => {
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

  test("describes what acknowledges it and when it is retried (rules HOOK-13, HOOK-14)", () => {
    for (const { post } of webhooks()) {
      const { "2XX": receivedResponse, default: otherResponses } = post.responses;
      expect(receivedResponse.description).toContain("10 s");
      for (const expectedText of ["30 s", "5 min", "30 min", "2 h", "12 h", "redirect"]) {
        expect(otherResponses.description).toContain(expectedText);
      }
    }
  });
});
