import { expect, test } from "@jest/globals";
import { encodeBase58 } from "./base58.ts";

/** The test vectors of Bitcoin Core (`base58_encode_decode.json`). */
test.each([
  ["", ""],
  ["61", "2g"],
  ["626262", "a3gV"],
  ["516b6fcd0f", "ABnLTmg"],
  ["00000000000000000000", "1111111111"],
  ["00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"],
])("encodes %s as %s", (hex, expected) => {
  expect(encodeBase58(Uint8Array.from(Buffer.from(hex, "hex")))).toBe(expected);
});
