import { describe, expect, test } from "@jest/globals";
import { parseHosts, parseRpcUrls } from "./rpc-urls.ts";

describe("parseRpcUrls", () => {
  test("preserves the order of a chain's providers between entries of other chains", () => {
    const createUrls = parseRpcUrls(
      " 1=https://a.example/k1, 8453=http://b.example ,1=https://c.example/?k=v,tron-nile=https://d.example",
    );
    expect(createUrls).toEqual(
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
    ["1=https://key.example,1=https://key.example", "entry 2 of 2 is a duplicate"],
    ["1=https://key.example,1=https://key.example:443/", "entry 2 of 2 is a duplicate"],
  ])("names the faulty entry by its position and repeats none of its text", (text, fault) => {
    expect(parseRpcUrls(text)).toEqual({ fault });
  });

  test.each([
    ["a trailing slash", "https://rpc.example", "https://rpc.example/"],
    ["upper case", "https://rpc.example/v2", "HTTPS://RPC.Example/v2"],
    ["the default port", "https://rpc.example/v2", "https://rpc.example:443/v2"],
    ["another port", "https://rpc.example/v2", "https://rpc.example:8545/v2"],
    ["another scheme", "https://rpc.example/v2", "http://rpc.example/v2"],
    ["credentials", "https://rpc.example/v2", "https://me:secret@rpc.example/v2"],
    ["a query", "https://rpc.example/v2", "https://rpc.example/v2?key=2"],
    ["another key in the path", "https://rpc.example/key-1", "https://rpc.example/key-2"],
    ["a trailing dot after the host", "https://rpc.example/v2", "https://rpc.example./v2"],
    ["a number as the address", "http://203.0.113.7/", "http://0xcb007107/"],
    ["an escaped host", "https://rpc.example/v2", "https://%72pc.example/v2"],
    ["another name of the loopback host", "http://127.0.0.1:8545", "http://localhost:8545/v2"],
  ])(
    "rejects one provider that is spelled in two ways, by %s (rule CHAIN-31)",
    (_, url, otherUrl) => {
      const { fault } = parseRpcUrls(`10=${url},1=${url},1=https://b.example,1=${otherUrl}`) as {
        fault: string;
      };
      expect(fault).toMatch(
        /^entry 4 of 4 (is a duplicate|has the host of entry 2, .*INDEPENDENT_RPC_HOSTS)/,
      );
      expect(fault).not.toMatch(/example|127|203|secret/);
    },
  );

  test("accepts nodes on different ports of the loopback host as different providers", () => {
    const createUrls = parseRpcUrls(
      "1=http://127.0.0.1:8545,1=http://127.0.0.1:8546,1=http://[::1]:8547",
    );
    expect(createUrls).toBeInstanceOf(Map);
  });

  test("accepts a declared host in front of independent providers, each of them once (rule CHAIN-31)", () => {
    const independentHosts = new Set(["gateway.example"]);
    const [url, otherUrl] = ["https://gateway.example/a", "https://Gateway.example/b"];
    const createUrls = parseRpcUrls(`1=${url},1=${otherUrl}`, independentHosts);
    expect(createUrls).toEqual(new Map([["1", [url, otherUrl]]]));
    expect(parseRpcUrls(`1=${url},1=https://gateway.example:443/a`, independentHosts)).toEqual({
      fault: "entry 2 of 2 is a duplicate",
    });
    expect(
      parseRpcUrls("1=https://b.example/a,1=https://b.example/b", independentHosts),
    ).toHaveProperty("fault");
  });

  test("parses hosts into the form in which they are compared", () => {
    expect(parseHosts(" Gateway.Example., 203.0.113.7 ,[2001:DB8::1],")).toEqual(
      new Set(["gateway.example", "203.0.113.7", "[2001:db8::1]"]),
    );
    expect(parseHosts("")).toEqual(new Set());
  });

  test.each(["https://a.example", "a.example:8545", "a.example/v2", "me@a.example", "[::1]:80"])(
    "rejects an entry that is more than a host name: %s",
    (host) => {
      expect(parseHosts(`b.example,${host}`)).toEqual({
        fault: "entry 2 of 2 is not a host name without a port",
      });
    },
  );

  test("limits the number of providers per chain and of entries", () => {
    const createUrls = (count: number, step: 0 | 1) =>
      Array.from(
        { length: count },
        (_, index) => `${1 + index * step}=https://e${index}.example`,
      ).join(",");
    expect(parseRpcUrls(createUrls(8, 0))).toBeInstanceOf(Map);
    expect(parseRpcUrls(createUrls(9, 0))).toEqual({
      fault: "entry 9 of 9 exceeds the limit of 8 providers per chain",
    });
    expect(parseRpcUrls(createUrls(100, 1))).toBeInstanceOf(Map);
    expect(parseRpcUrls(createUrls(101, 1))).toEqual({ fault: "has more than 100 entries" });
  });
});
