import { describe, expect, test } from "@jest/globals";
import { buildListUrl, isFiltered, parseLinkFilter } from "./filter.ts";

const parse = (query: string) => {
  const filter = parseLinkFilter(new URLSearchParams(query));
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
};

describe("the filter of the links list", () => {
  test.each([
    ["", {}],
    ["status=open", { status: "active" }],
    ["status=paid", { status: "completed" }],
    ["status=expired", { inactiveReason: "expired" }],
    ["status=deactivated", { inactiveReason: "deactivated" }],
    ["status=unknown", {}],
    ["q=tea&token=usdc-base", { q: "tea", token: "usdc-base" }],
    ["q=&token=&from=&to=", {}],
  ])("of the URL %s is %j", (query, filter) => {
    expect(parse(query)).toEqual(filter);
    expect(isFiltered(parse(query))).toBe(Object.keys(filter).length > 0);
  });

  test.each([
    ["", {}, "/links"],
    ["", { status: "open" }, "/links?status=open"],
    ["q=tea&before=plink_1", { status: "paid" }, "/links?q=tea&status=paid"],
    ["q=tea&status=paid", { status: "" }, "/links?q=tea"],
    ["q=tea", { q: "" }, "/links"],
  ])("of the URL %s with %j has the URL %s, without the page", (query, changes, url) => {
    expect(buildListUrl(new URLSearchParams(query), changes)).toBe(url);
  });
});
