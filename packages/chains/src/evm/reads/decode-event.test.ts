import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { type Hex, decodeAbiParameters, parseAbiParameters } from "viem";
import {
  decodeErc20ProxyEvent,
  decodeNativeProxyEvent,
  decodeTokenTransfer,
  erc20ProxyEvent,
  nativeProxyEvent,
} from "./decode-event.ts";

const randomWords = (count: number): Hex => `0x${randomBytes(32 * count).toString("hex")}`;
const address = "0x00000000000000000000000000000000000000aa";
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

// viem is the reference implementation. All bits are random, including the padding before an
// address.
describe("the event decoders with random words", () => {
  const runs = Array.from({ length: 50 }, (_, index) => index);

  test.each(runs)("decodes a token's proxy event like viem (%i)", () => {
    const [reference, data] = [randomWords(1), randomWords(5)];
    const abiParameters = parseAbiParameters("address, address, uint256, uint256, address");
    const [token, destination, amount] = decodeAbiParameters(abiParameters, data);
    const log = { address, topics: [erc20ProxyEvent.topic0, reference], data } as const;
    expect(decodeErc20ProxyEvent(log)).toEqual({
      referenceHash: reference,
      token,
      destination,
      amount,
    });
  });

  test.each(runs)("decodes a coin's proxy event and a token's transfer like viem (%i)", () => {
    const [reference, data] = [randomWords(1), randomWords(4)];
    const abiParameters = parseAbiParameters("address, uint256, uint256, address");
    const [destination, amount] = decodeAbiParameters(abiParameters, data);
    const log = { address, topics: [nativeProxyEvent.topic0, reference], data } as const;
    const event = { referenceHash: reference, token: null, destination, amount };
    expect(decodeNativeProxyEvent(log)).toEqual(event);

    const [from, to, value] = [randomWords(1), randomWords(1), randomWords(1)];
    const transferLog = { address, topics: [transferTopic, from, to], data: value } as const;
    expect(decodeTokenTransfer(transferLog)).toEqual({
      token: address,
      destination: decodeAbiParameters(parseAbiParameters("address"), to)[0],
      amount: BigInt(value),
    });
  });

  test.each([0, 1, 3, 4, 6])("rejects a token's proxy event with %i words", (count) => {
    const topics = [erc20ProxyEvent.topic0, randomWords(1)];
    expect(decodeErc20ProxyEvent({ address, topics, data: randomWords(count) })).toBeUndefined();
  });
});
