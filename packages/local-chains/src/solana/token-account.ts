import { type Address, getAddressDecoder } from "@solana/kit";

/** The two token programs. */
export const tokenPrograms = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as Address,
  token2022: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" as Address,
} as const;

/** An account on the chain. */
export type StoredAccount = {
  lamports: bigint;
  data: Uint8Array;
  owner: Address;
  isExecutable: boolean;
};

export type TokenHolding = { mint: Address; owner: Address; amount: bigint; isFrozen: boolean };

const accountLength = 165;
const tokenAccountType = 2;
const mintType = 1;
/** The length of a mint without extensions. */
export const mintLength = 82;
const frozenState = 2;

export const isTokenProgram = (address: string): boolean =>
  address === tokenPrograms.token || address === tokenPrograms.token2022;

/**
 * Decodes the balance of a token account. Returns undefined if the account is not a token account.
 */
export const decodeHolding = (account: StoredAccount | undefined): TokenHolding | undefined => {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  if (data.length < accountLength) return undefined;
  // Token-2022 stores the account type after the base account, followed by the extensions.
  if (data.length > accountLength && data[accountLength] !== tokenAccountType) return undefined;
  const state = data[108];
  if (state === 0) return undefined;
  return {
    mint: getAddressDecoder().decode(data, 0),
    owner: getAddressDecoder().decode(data, 32),
    amount: toDataView(data).getBigUint64(64, true),
    isFrozen: state === frozenState,
  };
};

/** Returns a mint's decimals, or undefined if the account is not a mint. */
export const decodeDecimals = (account: StoredAccount | undefined): number | undefined => {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const isMint =
    data.length === mintLength || (data.length > accountLength && data[accountLength] === mintType);
  return isMint ? data[44] : undefined;
};

/** Serializes the account of a mint as a node does. Only the decimals are set. */
export const serializeMint = (decimals: number, program: string) => {
  const data = Buffer.alloc(mintLength);
  data.set([decimals, 1], 44);
  return { data: [data.toString("base64"), "base64"], owner: program };
};

const toDataView = (data: Uint8Array): DataView =>
  new DataView(data.buffer, data.byteOffset, data.byteLength);

/** Serializes an amount as a node does. */
export const serializeTokenAmount = (amount: bigint, decimals: number) => {
  const digits = String(amount).padStart(decimals + 1, "0");
  const integerPart = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const uiAmountString = fraction === "" ? integerPart : `${integerPart}.${fraction}`;
  return { amount: String(amount), decimals, uiAmount: Number(uiAmountString), uiAmountString };
};
