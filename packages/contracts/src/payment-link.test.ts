import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { parseJson } from "./json.ts";
import { ListLinksQuery, createLinkBody, pageSize } from "./payment-link.ts";
import * as shapes from "./payment-link.ts";
import { ApiError } from "./api-error.ts";
import { parseInput } from "./validation.ts";

const createBody = createLinkBody(() => new Date("2026-11-21T10:00:00Z"));

const getErrorCodes = (schema: z.ZodType, input: unknown): unknown => {
  try {
    parseInput(schema, input);
    return "accepted";
  } catch (error) {
    if (error instanceof ApiError) return error.entries.map((entry) => entry.code).join(" ");
    throw error;
  }
};

describe("createLinkBody (rule API-3)", () => {
  test("parses missing fields as null", () => {
    const { toAmount, ...otherFields } = parseInput(createBody, { toAmount: "25" });
    expect(toAmount.toFixed()).toBe("25");
    expect(otherFields).toEqual({ description: null, maxUsage: null, expirationDate: null });
  });

  test.each([
    ['{"toAmount":"1","description":""}', "accepted"],
    [`{"toAmount":"1","description":"${"😀".repeat(500)}"}`, "accepted"],
    [`{"toAmount":"1","description":"${"😀".repeat(501)}"}`, "string_too_long"],
    ['{"toAmount":"1","maxUsage":1}', "accepted"],
    ['{"toAmount":"1","maxUsage":0}', "greater_than_equal"],
    ['{"toAmount":"1","maxUsage":2147483647}', "accepted"],
    ['{"toAmount":"1","maxUsage":2147483648}', "less_than_equal"],
    ['{"toAmount":"1","expirationDate":"2026-11-21T10:00:01Z"}', "accepted"],
    ['{"toAmount":"1","expirationDate":"2026-11-21T10:00:00Z"}', "datetime_future"],
    ['{"toAmount":"1","description":null,"maxUsage":null,"expirationDate":null}', "accepted"],
    ['{"toAmount":"1","destinationAddress":"0x0","chainId":1,"unknown":{}}', "accepted"],
    ["{}", "missing"],
    [
      '{"expirationDate":1,"maxUsage":"x","description":1,"toAmount":null}',
      "decimal_type string_type int_parsing datetime_type",
    ],
  ])("%.60s: %s", (json, expectedCodes) => {
    expect(getErrorCodes(createBody, parseJson(json))).toBe(expectedCodes);
  });

  test("is documented by the schema that validates it", () => {
    const { $defs } = z.toJSONSchema(createBody, { io: "input" });
    expect($defs?.["NewPaymentLink"]).toMatchObject({
      required: ["toAmount"],
      properties: {
        toAmount: { anyOf: [{ type: "string" }, { type: "number", exclusiveMinimum: 0 }] },
        description: { anyOf: [{ type: "string", maxLength: 500 }, { type: "null" }] },
        maxUsage: {
          anyOf: [{ type: "integer", minimum: 1, maximum: 2_147_483_647 }, { type: "null" }],
        },
        expirationDate: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] },
      },
    });
  });
});

describe("ListLinksQuery (rule API-4)", () => {
  test.each([
    [{}, "accepted"],
    [{ status: "inactive", offset: "0", page: "2" }, "accepted"],
    [{ offset: "2147483647" }, "accepted"],
    [{ offset: "2147483648" }, "less_than_equal"],
    [{ offset: "-1" }, "greater_than_equal"],
    [{ offset: "" }, "int_parsing"],
    [{ offset: "1.5" }, "int_parsing"],
    [{ offset: ["1", "2"] }, "int_type"],
    [{ status: "" }, "enum"],
    [{ status: "expired" }, "enum"],
    [{ status: ["active", "active"] }, "enum"],
    [{ offset: "x", status: "x" }, "enum int_parsing"],
    [{ updatedAfter: "2026-11-21T10:00:00Z" }, "accepted"],
    [{ updatedAfter: "yesterday" }, "datetime_from_date_parsing"],
    [{ updatedAfter: ["2026-11-21", "2026-11-22"] }, "datetime_type"],
  ])("%j: %s", (query, expectedCodes) => {
    expect(getErrorCodes(ListLinksQuery, query)).toBe(expectedCodes);
  });

  test("is documented without null, which a query cannot express", () => {
    const description = expect.any(String);
    expect(z.toJSONSchema(ListLinksQuery, { io: "input" })["properties"]).toEqual({
      status: { type: "string", enum: ["active", "completed", "inactive"], description },
      updatedAfter: { type: "string", format: "date-time", description },
      offset: { type: "integer", minimum: 0, maximum: 2_147_483_647, description },
    });
  });
});

test("a page has nextUpdatedAfter only for a list of changes (rule API-44)", () => {
  const schema = z.toJSONSchema(shapes.PaymentLinkPage, { io: "output" });
  const fields = ["data", "limit", "offset", "nextOffset"];
  const { properties, required } = schema.$defs?.["PaymentLinkPage"] ?? schema;
  expect(Object.keys(properties ?? {})).toEqual([...fields, "nextUpdatedAfter"]);
  expect(required).toEqual(fields);
});

// The fields of rule API-7, in their order.
describe("response shapes", () => {
  const linkFields =
    "id userId toAmount destinationAddress url dateCreated token status description maxUsage " +
    "receivedAmount expirationDate transactionUrl";
  test.each([
    ["ChainData", shapes.ChainData, "id name symbol chainType logo"],
    [
      "TokenData",
      shapes.TokenData,
      "address decimals symbol name logo isNative isStablecoin currencyCode commodityCode chain " +
        "priceUsd isVerified",
    ],
    ["PaymentLinkData", shapes.PaymentLinkData, linkFields],
    ["PaymentLinkCreationData", shapes.PaymentLinkCreationData, "id url"],
    [
      "UserWalletData",
      shapes.UserWalletData,
      "walletAddress token chainType isDefault isChainDefault provider",
    ],
    [
      "UserData",
      shapes.UserData,
      "id handle username dateCreated wallet profileImage bio backgroundImage backgroundColour " +
        "links isMooveUser contact badges",
    ],
    ["RetrievedPaymentLink", shapes.RetrievedPaymentLink, `${linkFields} user`],
  ] as const)("%s always contains every field of its table", (_name, responseSchema, fields) => {
    const schema = z.toJSONSchema(responseSchema, { io: "output" });
    const resolvedSchema =
      schema.$ref === undefined ? schema : schema.$defs?.[schema.$ref.slice(8)];
    expect(Object.keys(resolvedSchema?.properties ?? {}).sort()).toEqual(fields.split(" ").sort());
    expect(resolvedSchema?.required?.length).toBe(fields.split(" ").length);
  });

  test("a page has ten links", () => {
    expect(pageSize).toBe(10);
  });
});
