import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base58 } from "@scure/base";

/** The two token programs of Solana, by their names in the catalogue. */
export const solanaTokenPrograms = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "token-2022": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
} as const;
export type TokenProgram = keyof typeof solanaTokenPrograms;

/** Returns the token program that owns a token's accounts. */
export const getTokenProgram = ({
  tokenProgram = "token",
}: {
  tokenProgram?: TokenProgram | undefined;
}): string => solanaTokenPrograms[tokenProgram];

const associatedTokenProgram = base58.decode("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const pdaMarker = utf8ToBytes("ProgramDerivedAddress");
const bumpMax = 255;

/**
 * Derives an owner's associated token account. Wallets pay to it if a request contains the owner's
 * address. All three parameters are Solana addresses.
 */
export const deriveAssociatedTokenAccount = ({
  owner,
  mint,
  program,
}: {
  owner: string;
  mint: string;
  program: string;
}): string => {
  const seeds = [owner, program, mint].map((key) => base58.decode(key));
  // Takes the first hash that is not a point on the curve, because no one can have a private key
  // for it.
  for (let bump = bumpMax; bump >= 0; bump -= 1) {
    const hash = sha256(
      concatBytes(...seeds, Uint8Array.of(bump), associatedTokenProgram, pdaMarker),
    );
    if (!isOnCurve(hash)) return base58.encode(hash);
  }
  throw new RangeError("no token account can be derived");
};

const fieldPrime = 2n ** 255n - 19n;
const curveD = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const signBitMask = 0x7f;

/** Returns whether 32 bytes are a point on ed25519: x² = (y² - 1) / (dy² + 1) has a root. */
const isOnCurve = (bytes: Uint8Array): boolean => {
  const bigEndianBytes = bytes.toReversed();
  bigEndianBytes[0] = (bigEndianBytes[0] ?? 0) & signBitMask;
  const y = BigInt(`0x${bytesToHex(bigEndianBytes)}`);
  const ySquared = (y * y) % fieldPrime;
  const quotient = ((ySquared + fieldPrime - 1n) * (curveD * ySquared + 1n)) % fieldPrime;
  return quotient === 0n || modularPower(quotient, (fieldPrime - 1n) / 2n) === 1n;
};

const modularPower = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  let factor = base;
  for (let remainingExponent = exponent; remainingExponent > 0n; remainingExponent >>= 1n) {
    if ((remainingExponent & 1n) === 1n) result = (result * factor) % fieldPrime;
    factor = (factor * factor) % fieldPrime;
  }
  return result;
};
