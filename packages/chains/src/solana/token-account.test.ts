import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
} from "@solana/kit";
import { deriveAssociatedTokenAccount, solanaTokenPrograms } from "./token-account.ts";

const deriveAddress = (name: string): Address =>
  getAddressDecoder().decode(createHash("sha256").update(name).digest());

describe("deriveAssociatedTokenAccount", () => {
  test("matches Solana's own library for both programs", async () => {
    for (let index = 0; index < 40; index += 1) {
      const [owner, mint] = [deriveAddress(`owner ${index}`), deriveAddress(`mint ${index}`)];
      const program = Object.values(solanaTokenPrograms)[index % 2] as Address;
      const [expected] = await getProgramDerivedAddress({
        programAddress: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL" as Address,
        seeds: [owner, program, mint].map((key) => getAddressEncoder().encode(key)),
      });
      expect(deriveAssociatedTokenAccount({ owner, mint, program })).toBe(expected);
    }
  });
});
