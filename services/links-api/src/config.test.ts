import { describe, expect, test } from "@jest/globals";
import { devnetSeed, loadCatalogue } from "@payment-links/contracts";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { linksApiConfig, parseSettlementChains, parseTransferChains } from "./config.ts";

const parseChains = (value: string | undefined) =>
  parseSettlementChains(
    parseConfig(linksApiConfig, { SETTLEMENT_CHAINS: value }),
    loadCatalogue(undefined, [devnetSeed]),
  );

describe("EVENT_STREAMS_MAX and EVENT_STREAMS_PER_IP_MAX", () => {
  test("default to 10,000 and 100", () => {
    expect(parseConfig(linksApiConfig, {}).eventStreamLimits).toEqual({
      total: 10_000,
      perAddress: 100,
    });
    expect(
      parseConfig(linksApiConfig, { EVENT_STREAMS_MAX: "0", EVENT_STREAMS_PER_IP_MAX: "7" }),
    ).toMatchObject({ eventStreamLimits: { total: 0, perAddress: 7 } });
  });

  test.each(["-1", "1.5", "many"])("rejects %s with an error that names the variable", (value) => {
    expect(() => parseConfig(linksApiConfig, { EVENT_STREAMS_MAX: value })).toThrow(
      /EVENT_STREAMS_MAX/,
    );
  });
});

test.each([
  [{}, true],
  [{ NODE_ENV: "production" }, false],
  [{ NODE_ENV: "production", SIGN_UP: "open" }, true],
  [{ SIGN_UP: "closed" }, false],
  [{ SIGN_UP: "oidc" }, false],
])(
  "with %j, isSignUpOpen (the warning about unverified sellers) is %s (rules CALLER-37 and CALLER-38)",
  (environment, isSignUpOpen) => {
    expect(parseConfig(linksApiConfig, environment).isSignUpOpen).toBe(isSignUpOpen);
  },
);

describe("SETTLEMENT_CHAINS", () => {
  test.each([
    [undefined, []],
    ["", []],
    ["8453, 31337,", ["8453", "31337"]],
    [
      "tron,tron-nile,solana,solana-devnet,bitcoin,bitcoin-testnet4",
      ["tron", "tron-nile", "solana", "solana-devnet", "bitcoin", "bitcoin-testnet4"],
    ],
  ])("parses %j as the chains %j", (value, chainIds) => {
    expect([...parseChains(value)]).toEqual(chainIds);
  });

  test.each(["84532", "none", "bitcoin-testnet3"])(
    "rejects %s, which has no fee proxies, with an error that names the chain",
    (chainId) => {
      const parse = () => parseChains(`8453,${chainId}`);
      expect(parse).toThrow(ConfigError);
      expect(parse).toThrow(
        `SETTLEMENT_CHAINS: chain ${chainId} has no fee proxies in the catalogue`,
      );
    },
  );
});

describe("TRANSFER_CHAINS", () => {
  const parseChains = (value: string) =>
    parseTransferChains(parseConfig(linksApiConfig, { TRANSFER_CHAINS: value }), loadCatalogue());

  test("parses the EVM chains on which direct transfers to owners are tracked", () => {
    expect([...parseChains("")]).toEqual([]);
    expect([...parseChains("8453, 1")]).toEqual(["8453", "1"]);
  });

  test.each(["tron", "solana", "none"])(
    "rejects %s with an error that names the chain",
    (chainId) => {
      const parse = () => parseChains(`8453,${chainId}`);
      expect(parse).toThrow(ConfigError);
      expect(parse).toThrow(`TRANSFER_CHAINS: ${chainId} is not an EVM chain in the catalogue`);
    },
  );
});
