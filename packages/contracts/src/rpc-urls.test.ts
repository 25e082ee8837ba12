import { describe, expect, test } from "@jest/globals";
import { parseRpcUrls } from "./rpc-urls.ts";

describe("parseRpcUrls", () => {
  test("keeps the order of a chain's providers, whatever stands between them", () => {
    const urls = parseRpcUrls(
      " 1=https://a.example/k1, 8453=http://b.example ,1=https://c.example/?k=v,tron-nile=https://d.example",
    );
    expect(urls).toEqual(
      new Map([
        ["1", ["https://a.example/k1", "https://c.example/?k=v"]],
        ["8453", ["http://b.example"]],
        ["tron-nile", ["https://d.example"]],
      ]),
    );
    expect(parseRpcUrls("")).toEqual(new Map());
  });

  test.each([
    ["https://key.example", "entry 1 of 1 is not <chain id>=<url>"],
    ["1=https://key.example,X=https://key.example", "entry 2 of 2 is not <chain id>=<url>"],
    ["01=https://key.example", "entry 1 of 1 is not <chain id>=<url>"],
    ["1=key.example", "entry 1 of 1 is not an http or https URL"],
    ["1=wss://key.example", "entry 1 of 1 is not an http or https URL"],
    ["1=https://key.example,1=https://key.example", "entry 2 of 2 stands there twice"],
  ])("a fault names the entry and repeats nothing of it", (text, fault) => {
    expect(parseRpcUrls(text)).toEqual({ fault });
  });

  test("the providers of a chain and the entries are bounded", () => {
    const urls = (count: number, step: 0 | 1) =>
      Array.from({ length: count }, (_, n) => `${1 + n * step}=https://e${n}.example`).join(",");
    expect(parseRpcUrls(urls(8, 0))).toBeInstanceOf(Map);
    expect(parseRpcUrls(urls(9, 0))).toEqual({ fault: "entry 9 of 9 is the chain's 9th provider" });
    expect(parseRpcUrls(urls(100, 1))).toBeInstanceOf(Map);
    expect(parseRpcUrls(urls(101, 1))).toEqual({ fault: "has more than 100 entries" });
  });
});
