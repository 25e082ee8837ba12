import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base58 } from "@scure/base";

/** The two programs that hold tokens on Solana, as the catalogue names them. */
export const solanaTokenPrograms = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "token-2022": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
} as const;

const accountProgram = base58.decode("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const marker = utf8ToBytes("ProgramDerivedAddress");
const bumpMax = 255;

/**
 * The account in which an owner holds a token, unless he opened another: what wallets pay to where a
 * request names the owner (the associated token account). All three are addresses of Solana.
 */
export const solanaTokenAccount = ({
  owner,
  mint,
  program,
}: {
  owner: string;
  mint: string;
  program: string;
}): string => {
  const seeds = [owner, program, mint].map((key) => base58.decode(key));
  // The first that is no point of the curve, so that nobody can have its private key.
  for (let bump = bumpMax; bump >= 0; bump -= 1) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), accountProgram, marker));
    if (!isOnCurve(hash)) return base58.encode(hash);
  }
  throw new RangeError("no token account can be derived");
};

const prime = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const signBit = 0x7f;

/** Whether 32 bytes are a point of ed25519: x² = (y² - 1) / (dy² + 1) has a root. */
const isOnCurve = (bytes: Uint8Array): boolean => {
  const littleEnd = bytes.toReversed();
  littleEnd[0] = (littleEnd[0] ?? 0) & signBit;
  const y = BigInt(`0x${bytesToHex(littleEnd)}`);
  const square = (y * y) % prime;
  const quotient = ((square + prime - 1n) * (d * square + 1n)) % prime;
  return quotient === 0n || power(quotient, (prime - 1n) / 2n) === 1n;
};

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  let factor = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * factor) % prime;
    factor = (factor * factor) % prime;
  }
  return result;
};
