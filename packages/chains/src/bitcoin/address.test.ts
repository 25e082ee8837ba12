import { beforeAll, describe, expect, test } from "@jest/globals";
import { bech32, bech32m } from "@scure/base";
import { address as bitcoinjsAddress, initEccLib, networks, payments } from "bitcoinjs-lib";
import fc from "fast-check";
import * as ecc from "tiny-secp256k1";
import { type BitcoinChainId, toBitcoinScriptPubKey, parseBitcoinAddress } from "./address.ts";
import { misspellings } from "../testing/misspellings.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

beforeAll(() => initEccLib(ecc));

const networksByChainId = {
  bitcoin: networks.bitcoin,
  "bitcoin-testnet4": networks.testnet,
  "local-bitcoin": networks.regtest,
};
const chainIds = Object.keys(networksByChainId) as BitcoinChainId[];
const kinds = ["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"] as const;

type RandomScript = { chainId: BitcoinChainId; kind: (typeof kinds)[number]; bytes: Uint8Array };

const addressOf = ({ chainId, kind, bytes }: RandomScript): string => {
  const network = networksByChainId[chainId];
  const hash = bytes.subarray(0, 20);
  const { address } = {
    p2pkh: () => payments.p2pkh({ hash, network }),
    p2sh: () => payments.p2sh({ hash, network }),
    p2wpkh: () => payments.p2wpkh({ hash, network }),
    p2wsh: () => payments.p2wsh({ hash: bytes, network }),
    p2tr: () => payments.p2tr({ pubkey: bytes, network }),
  }[kind]();
  if (address === undefined) throw new Error("the reference library returned no address");
  return address;
};

const randomScript: fc.Arbitrary<RandomScript> = fc
  .record({
    chainId: fc.constantFrom(...chainIds),
    kind: fc.constantFrom(...kinds),
    bytes: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  })
  .filter(({ kind, bytes }) => kind !== "p2tr" || ecc.isXOnlyPoint(bytes))
  .filter(({ bytes }) => bytes.subarray(0, 20).some((byte) => byte !== 0));

/**
 * Returns whether bitcoinjs, the reference implementation, also accepts the address. Addresses with
 * later witness versions must not be passed, because bitcoinjs only warns about them.
 */
const isAcceptedByBitcoinjs = (chainId: BitcoinChainId, input: string): boolean => {
  try {
    bitcoinjsAddress.toOutputScript(input, networksByChainId[chainId]);
    return true;
  } catch {
    return false;
  }
};

describe("parseBitcoinAddress", () => {
  test("derives the same script as bitcoinjs for random addresses of five kinds and three networks", () => {
    fc.assert(
      fc.property(randomScript, (sample) => {
        const { chainId } = sample;
        const address = addressOf(sample);
        expect(parseBitcoinAddress(chainId, address)).toEqual({ address });
        const script = Buffer.from(
          bitcoinjsAddress.toOutputScript(address, networksByChainId[chainId]),
        );
        expect(toBitcoinScriptPubKey(chainId, address)).toBe(script.toString("hex"));
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("rejects a misspelled address whenever bitcoinjs rejects it", () => {
    const misspelledAddress = randomScript.chain((sample) =>
      fc.record({
        chainId: fc.constant(sample.chainId),
        typed: misspellings(fc.constant(addressOf(sample))),
      }),
    );
    fc.assert(
      fc.property(misspelledAddress, ({ chainId, typed: input }) => {
        expect("address" in parseBitcoinAddress(chainId, input)).toBe(
          isAcceptedByBitcoinjs(chainId, input),
        );
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("detects an address of another network, except for the legacy formats that test networks share", () => {
    fc.assert(
      fc.property(randomScript, fc.constantFrom(...chainIds), (sample, otherChainId) => {
        const address = addressOf(sample);
        const isValidOnOtherNetwork = isAcceptedByBitcoinjs(otherChainId, address);
        expect(parseBitcoinAddress(otherChainId, address)).toEqual(
          isValidOnOtherNetwork ? { address } : { fault: "network" },
        );
      }),
      getPropertyRunOptions({ soak: 1_000 }),
    );
  });

  const encodeSegwit = (coder: typeof bech32, version: number, bytes: Uint8Array): string =>
    coder.encode("bc", [version, ...bech32.toWords(bytes)]);
  const filled = (length: number, value = 7): Uint8Array => new Uint8Array(length).fill(value);
  const pointOnCurve = Buffer.from(
    "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    "hex",
  );

  test.each([
    [
      "lowercases an address in capitals",
      "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
      { address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
    ],
    [
      "rejects an address in mixed case",
      "bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
      { fault: "malformed" },
    ],
    [
      "rejects an address with one wrong letter",
      "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
      { fault: "checksum" },
    ],
    ["rejects version 0 in bech32m", encodeSegwit(bech32m, 0, filled(20)), { fault: "checksum" }],
    ["rejects version 1 in bech32", encodeSegwit(bech32, 1, pointOnCurve), { fault: "checksum" }],
    [
      "rejects version 2, whose funds anyone could spend",
      encodeSegwit(bech32m, 2, filled(32)),
      { fault: "checksum" },
    ],
    [
      "rejects a Taproot address whose key is not on the curve",
      encodeSegwit(bech32m, 1, filled(32, 0xff)),
      { fault: "checksum" },
    ],
    ["rejects an anchor, whose funds anyone can spend", "bc1pfeessrawgf", { fault: "checksum" }],
    ["rejects a zero hash", encodeSegwit(bech32, 0, filled(20, 0)), { fault: "unspendable" }],
    [
      "rejects a zero hash in the legacy format",
      "1111111111111111111114oLvT2",
      { fault: "unspendable" },
    ],
    ["rejects a Tron address", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", { fault: "checksum" }],
    [
      "rejects a Litecoin address",
      "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
      { fault: "malformed" },
    ],
    ["rejects a million characters", `bc1${"q".repeat(1_000_000)}`, { fault: "malformed" }],
  ])("%s", (_name, input, expected) => {
    expect(parseBitcoinAddress("bitcoin", input)).toEqual(expected);
  });
});
