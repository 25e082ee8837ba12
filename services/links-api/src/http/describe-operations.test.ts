import { beforeAll, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { findRef } from "../testing/find-ref.ts";
import { openRig } from "../testing/open-rig.ts";

type Json = ReturnType<typeof JSON.parse>;

const rig = useRig(openRig);
const documents: Record<string, Json> = {};
const documentPaths = ["/v1/openapi.json", "/console/api/openapi.json"];
beforeAll(async () => {
  for (const path of documentPaths) documents[path] = (await rig.call(path)).json;
});

type Told = { name: string; status: string; operation: Json; answer: Json };

/** Every answer of every operation, under a name to find it by. */
const answersOf = (document: Json): Told[] =>
  Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).flatMap(([method, operation]) =>
      Object.entries<Json>(operation.responses).map(([status, answer]) => ({
        name: `${method} ${path} ${status}`,
        status,
        operation,
        answer,
      })),
    ),
  );

const resolve = (document: Json, value: Json): Json =>
  value?.$ref === undefined ? value : findRef(document, value.$ref);

const requiredHeaders = (document: Json, { answer }: Told): string[] =>
  Object.entries<Json>(answer.headers)
    .filter(([, header]) => resolve(document, header).required === true)
    .map(([name]) => name)
    .sort();

describe.each(documentPaths)("what %s says of every answer", (documentPath) => {
  const told = () => answersOf(documents[documentPath]);

  test("an answer of a limit says so, but for the 404 of a path that names nothing", () => {
    const document = documents[documentPath];
    const limits = ["RateLimit", "RateLimit-Policy"];
    expect(told().length).toBeGreaterThan(20);
    for (const one of told()) {
      const namesNothing = one.answer.description.includes("`NOT_FOUND`");
      const expected = [
        ...(namesNothing ? [] : limits),
        ...(one.status === "429" ? ["Retry-After"] : []),
        ...(one.status === "303" ? ["Location"] : []),
        "X-Request-Id",
      ];
      expect([one.name, requiredHeaders(document, one)]).toEqual([one.name, expected.sort()]);
      expect(Object.keys(one.answer.headers)).toEqual(expect.arrayContaining(limits));
    }
  });

  test("what is worth a retry says how, and nothing else does (rule ERROR-4)", () => {
    for (const { answer, name, operation, status } of told()) {
      const isLists404 = operation.operationId === "listPaymentLinks" && status === "404";
      const isRunning = answer.description.includes("IDEMPOTENCY_KEY_IN_USE");
      const isWorthIt = status === "429" || status >= "500" || isLists404 || isRunning;
      const says = /^Try again|: try again/m.test(answer.description);
      expect([name, says]).toEqual([name, isWorthIt || answer.description.includes("NOT_SETTLED")]);
    }
  });

  test("what writes says that a failure may have been none, and how a repeat is safe", () => {
    for (const { answer, name, operation, status } of told()) {
      if (status < "500" || !/^(post|patch|delete) /.test(name)) continue;
      const isKept = operation.parameters?.some((one: Json) => one.name === "Idempotency-Key");
      expect([name, answer.description]).toEqual([
        name,
        expect.stringContaining(isKept ? "the same `Idempotency-Key`" : "may have been done"),
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
    const walk = (value: Json, at: string, isDescribed = false): void => {
      if (typeof value !== "object" || value === null) return;
      const says = isDescribed || typeof value.description === "string";
      const types = new Set([value.type].flat());
      if (types.has("integer")) {
        expect([at, "minimum" in value || says]).toEqual([at, true]);
      }
      if (/amount(BaseUnits)?$/i.test(at) && types.has("string"))
        expect([at, says]).toEqual([at, true]);
      for (const [name, inner] of Object.entries<Json>(value.properties ?? {})) {
        walk(inner, `${at}.${name}`);
      }
      for (const inner of [value.anyOf ?? [], value.oneOf ?? [], value.items ?? []].flat()) {
        walk(inner, at, says);
      }
    };
    const { schemas } = documents[documentPath].components;
    for (const [name, schema] of Object.entries(schemas)) walk(schema, name);
  });
});

test("the public API's document says of each of its fields what it is", () => {
  const { components } = documents["/v1/openapi.json"];
  const saysItself = (field: Json): boolean =>
    field.$ref !== undefined || field.const !== undefined || field.items?.$ref !== undefined;
  const dumb: string[] = [];
  const walk = (schema: Json, at: string): void => {
    for (const [name, field] of Object.entries<Json>(schema.properties ?? {})) {
      if (field.description === undefined && !saysItself(field)) dumb.push(`${at}.${name}`);
      walk(field, `${at}.${name}`);
    }
    for (const inner of [schema.anyOf ?? [], schema.items ?? []].flat()) walk(inner, at);
  };
  for (const [name, schema] of Object.entries(components.schemas)) walk(schema, name);
  expect(dumb).toEqual([]);
});

describe("answers have the headers that are told of them", () => {
  test.each([
    ["/v1/payment-link", "get", "/v1/payment-link", 401],
    ["/v1/payment-link/%ZZ", "get", "/v1/payment-link/{id}", 404],
    ["/v1/payment-link/plink_none", "get", "/v1/payment-link/{id}", 404],
    ["/v1/payment-link?status=odd", "get", "/v1/payment-link", 401],
  ])("%s", async (path, method, template, status) => {
    const document = documents["/v1/openapi.json"];
    const answer = await rig.call(path);
    const told = document.paths[template][method].responses[String(status)];
    expect(answer.status).toBe(status);
    const one = { name: path, status: String(status), operation: {}, answer: told };
    for (const name of requiredHeaders(document, one)) expect(answer.headers.has(name)).toBe(true);
  });
});

describe("a webhook as it is told", () => {
  const webhooks = (): Json[] => Object.values(documents["/v1/openapi.json"].webhooks);

  test("its signature can be checked by what is said (rule HOOK-12)", () => {
    for (const { post } of webhooks()) {
      const said = Object.fromEntries(
        post.parameters.map((one: Json) => [one.name, one.description]),
      );
      for (const word of ["`whsec_`", "period", "raw", "HMAC-SHA256", "lower-case hex"]) {
        expect(said["Service-Signature"]).toContain(word);
      }
      expect(said["Service-Timestamp"]).toContain("300 s");
      expect(said["Service-Event-Id"]).toContain("each endpoint");
      expect(said["Service-Event-Id"]).toContain("recognize a repeated webhook by the body's `id`");
      expect(post.description).toContain("processed the `id` in its body");
      for (const { schema } of post.parameters) expect(schema.pattern).toMatch(/^\^/);
    }
  });

  test("and what ends it, and when it comes again (rules HOOK-13, HOOK-14)", () => {
    for (const { post } of webhooks()) {
      const { "2XX": received, default: other } = post.responses;
      expect(received.description).toContain("10 s");
      for (const word of ["30 s", "5 min", "30 min", "2 h", "12 h", "redirect"]) {
        expect(other.description).toContain(word);
      }
    }
  });
});
