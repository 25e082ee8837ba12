import { beforeAll, describe, expect, test } from "@jest/globals";
import { webhookTypes } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { applySettlements } from "../events/apply-settlements.ts";
import { createPublicRoutes } from "../routes.ts";
import { describePublicApi } from "./describe-public-api.ts";
import { resolveRef } from "../testing/resolve-ref.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

type Json = ReturnType<typeof JSON.parse>;

const rig = useRig(createRig);
let document: Json;
beforeAll(async () => {
  const response = await rig.call("/v1/openapi.json");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  document = response.json;
});

const resolveReference = (ref: string): Json => resolveRef(document, ref);

/** Visits every object in the document, with its key. */
const walk = (value: Json, visit: (value: Json, key: string) => void, key = ""): void => {
  if (typeof value !== "object" || value === null) return;
  visit(value, key);
  for (const [name, innerValue] of Object.entries(value)) walk(innerValue, visit, name);
};

const operations = (): Json[] =>
  [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item: Json) =>
    Object.values(item),
  );

/**
 * Validates the types, the fields and the null values of a value against a schema of the document.
 * Returns the errors.
 */
const findSchemaErrors = (value: Json, schema: Json, path = "$"): string[] => {
  if (schema.$ref !== undefined)
    return findSchemaErrors(value, resolveReference(schema.$ref), path);
  if (schema.anyOf !== undefined) {
    const optionErrors = schema.anyOf.map((option: Json) => findSchemaErrors(value, option, path));
    return optionErrors.some((errors: string[]) => errors.length === 0) ? [] : optionErrors[0];
  }
  const types = [schema.type].flat().filter((type) => type !== undefined);
  const type = getJsonType(value);
  const isAllowedType = types.length === 0 || types.includes(type);
  if (!isAllowedType && !(type === "integer" && types.includes("number")))
    return [`${path} is a ${type}`];
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return [`${path} is not one of enum`];
  if (type === "array") {
    return value.flatMap((item: Json, index: number) =>
      findSchemaErrors(item, schema.items, `${path}[${index}]`),
    );
  }
  if (type !== "object") return [];
  const missingErrors = (schema.required ?? [])
    .filter((name: string) => !(name in value))
    .map((name: string) => `${path}.${name} is missing`);
  const memberErrors = Object.entries(value).flatMap(([name, innerValue]) => {
    const memberSchema = schema.properties?.[name];
    return memberSchema === undefined
      ? [`${path}.${name} is unknown`]
      : findSchemaErrors(innerValue, memberSchema, `${path}.${name}`);
  });
  return [...missingErrors, ...memberErrors];
};

const getJsonType = (value: Json): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
};

const getResponseSchema = (path: string, method: string): Json =>
  document.paths[path][method].responses["200"].content["application/json"].schema;

describe("GET /v1/openapi.json", () => {
  test("is OpenAPI 3.1 at version 1.0.0 with the service's own address", () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ title: "Payment Links", version: "1.0.0" });
    expect(document.info.description).toContain("compare receivedAmount");
    expect(document.servers).toEqual([{ url: "http://127.0.0.1" }]);
  });

  test("includes exactly the service's /v1 routes, except its own (rule API-1)", () => {
    const servedRoutes = createPublicRoutes(rig.dependencies, applySettlements(rig.dependencies))
      .filter(({ path }) => path.startsWith("/v1/") && path !== "/v1/openapi.json")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const describedRoutes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method} ${path}`),
    );
    expect(describedRoutes.sort()).toEqual(servedRoutes.sort());
    expect(describedRoutes).toHaveLength(6);
  });

  test("contains everything that it references, and keeps responses open to new fields (rule API-1)", () => {
    const refs: string[] = [];
    walk(document, (value) => {
      if (typeof value.$ref === "string") refs.push(value.$ref);
      expect(value).not.toHaveProperty("$defs");
      expect(value.additionalProperties).not.toBe(false);
    });
    expect(refs.length).toBeGreaterThan(20);
    for (const ref of refs) expect([ref, typeof resolveReference(ref)]).toEqual([ref, "object"]);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        "PaymentLinkData",
        "PaymentLinkPage",
        "PaymentLinkCreationData",
        "RetrievedPaymentLink",
        "TokenData",
        "ChainData",
        "UserData",
        "UserWalletData",
        "TransactionSucceededWebhook",
        "CompletedWebhook",
        "Webhook",
        "Errors",
      ]),
    );
  });

  test("gives each operation a unique name, its path parameters, and complete responses", () => {
    const names = operations().map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][A-Za-z]+$/);
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      for (const operation of Object.values<Json>(item)) {
        const pathParameters = (operation.parameters ?? []).filter(
          (parameter: Json) => parameter.in === "path",
        );
        expect(pathParameters.map((parameter: Json) => `{${parameter.name}}`)).toEqual(
          path.match(/\{\w+\}/g) ?? [],
        );
        for (const [status, response] of Object.entries<Json>(operation.responses)) {
          expect(status).toMatch(/^\d{3}$/);
          expect(response.description.length).toBeGreaterThan(0);
          expect(response.content["application/json"].schema.$ref).toBeDefined();
          expect(Object.keys(response.headers)).toEqual(
            expect.arrayContaining(["RateLimit", "RateLimit-Policy"]),
          );
        }
      }
    }
  });

  test("includes the key, each scope, the idempotency key, and every code of each status", () => {
    const { apiKey } = document.components.securitySchemes;
    expect(apiKey).toMatchObject({ type: "apiKey", in: "header", name: "X-API-Key" });
    expect(apiKey.description).toContain("payment_link:read");
    const createOperation = document.paths["/v1/payment-link"].post;
    expect(createOperation.security).toEqual([{ apiKey: ["payment_link:create"] }]);
    expect(document.paths["/v1/payment-link/{id}"].get.security).toEqual([]);
    expect(createOperation.parameters.map((parameter: Json) => parameter.name)).toEqual([
      "Idempotency-Key",
    ]);
    expect(Object.keys(createOperation.responses)).toEqual([
      "200",
      "401",
      "403",
      "409",
      "413",
      "415",
      "422",
      "429",
      "500",
    ]);
    const listOperation = document.paths["/v1/payment-link"].get;
    expect(Object.keys(listOperation.responses)).toEqual([
      "200",
      "401",
      "403",
      "404",
      "409",
      "422",
      "429",
    ]);
    expect(listOperation.parameters.map((parameter: Json) => parameter.name)).toEqual([
      "status",
      "updatedAfter",
      "offset",
    ]);
    const text = JSON.stringify([
      createOperation.responses,
      listOperation.responses,
      document.info.description,
    ]);
    for (const code of [
      "UNAUTHENTICATED",
      "INVALID_API_KEY",
      "EXPIRED_API_KEY",
      "INSUFFICIENT_API_SCOPE",
      "CANNOT_FIND_PAYMENT_LINK",
      "PAYMENT_LINK_ACCOUNT_NOT_READY",
      "INVALID_PAYMENT_LINK_AMOUNT",
      "CANNOT_CREATE_PAYMENT_LINK",
      "IDEMPOTENCY_KEY_REUSED",
      "IDEMPOTENCY_KEY_IN_USE",
      "IDEMPOTENCY_KEY_INVALID",
      "PAYLOAD_TOO_LARGE",
      "missing",
      "json_invalid",
      "model_attributes_type",
      "decimal_type",
      "decimal_parsing",
      "finite_number",
      "greater_than",
      "string_type",
      "string_too_long",
      "int_type",
      "int_parsing",
      "int_from_float",
      "greater_than_equal",
      "less_than_equal",
      "datetime_type",
      "datetime_from_date_parsing",
      "datetime_future",
      "enum",
      "decimal_max_digits",
    ]) {
      expect(text).toContain(code);
    }
    expect(createOperation.responses["429"].headers).toHaveProperty("Retry-After");
  });

  test("describes each webhook, and future types, with the three headers", () => {
    expect(Object.keys(document.webhooks)).toEqual([...webhookTypes, "other"]);
    for (const { post } of Object.values<Json>(document.webhooks)) {
      expect(post.parameters.map((parameter: Json) => parameter.name)).toEqual([
        "Service-Signature",
        "Service-Timestamp",
        "Service-Event-Id",
      ]);
      expect(post.description).toContain("compare receivedAmount with amount");
    }
  });

  test("requires a transaction in the webhook types that have one, and not in the others", () => {
    const getDataSchema = (type: string): Json =>
      resolveReference(
        document.webhooks[type].post.requestBody.content["application/json"].schema.$ref,
      ).properties.data;
    expect(getDataSchema("payment_link.transaction.succeeded").required).toContain("transaction");
    expect(getDataSchema("payment_link.transaction.unapplied").required).toContain("transaction");
    expect(getDataSchema("payment_link.completed").properties).not.toHaveProperty("transaction");
    expect(getDataSchema("other").properties).toBeUndefined();
  });

  test("uses the configured names of the webhook headers", () => {
    const { webhooks } = describePublicApi({ ...rig.dependencies, webhookHeaderPrefix: "Shop" });
    const text = JSON.stringify(webhooks);
    expect(text).toContain('"Shop-Signature"');
    expect(text).not.toContain("Service-");
  });

  test("describes the responses exactly: no missing fields, no unknown fields, no wrong types", async () => {
    const headers = rig.createKeyHeaders(
      sampleAccount({ bio: "Tea", links: ["https://tea.example/"] }),
    );
    const created = await rig.call("/v1/payment-link", {
      method: "POST",
      headers,
      body: '{"toAmount":"5","maxUsage":2}',
    });
    await rig.settle(sampleSettlement(created.json.id, { amount: "5" }));
    const link = await rig.retrieve(created.json.id);
    const page = (await rig.call("/v1/payment-link", { headers })).json;
    expect(findSchemaErrors(created.json, getResponseSchema("/v1/payment-link", "post"))).toEqual(
      [],
    );
    expect(findSchemaErrors(page, getResponseSchema("/v1/payment-link", "get"))).toEqual([]);
    const retrievedSchema = getResponseSchema("/v1/payment-link/{id}", "get");
    expect(findSchemaErrors(link, retrievedSchema)).toEqual([]);
    // Verifies that the check detects an invalid value.
    expect(findSchemaErrors({ ...link, toAmount: 5, extra: 1 }, retrievedSchema)).toEqual([
      "$.toAmount is a integer",
      "$.extra is unknown",
    ]);
    const rejected = (await rig.call("/v1/payment-link")).json;
    expect(findSchemaErrors(rejected, { $ref: "#/components/schemas/Errors" })).toEqual([]);
  });
});
