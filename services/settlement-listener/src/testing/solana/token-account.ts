import { type Address, getAddressDecoder } from "@solana/kit";

/** The two programs that hold tokens. */
export const tokenPrograms = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as Address,
  token2022: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" as Address,
} as const;

/** An account of the chain. */
export type StoredAccount = {
  lamports: bigint;
  data: Uint8Array;
  owner: Address;
  isExecutable: boolean;
};

export type TokenHolding = { mint: Address; owner: Address; amount: bigint; isFrozen: boolean };

const accountBytes = 165;
const typeOfAccount = 2;
const typeOfMint = 1;
const mintBytes = 82;
const frozen = 2;

export const isTokenProgram = (address: string): boolean =>
  address === tokenPrograms.token || address === tokenPrograms.token2022;

/** What a token account holds; undefined if the account is none. */
export const readHolding = (account: StoredAccount | undefined): TokenHolding | undefined => {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  if (data.length < accountBytes) return undefined;
  // Behind the plain account Token-2022 writes what kind of account it is, then its extensions.
  if (data.length > accountBytes && data[accountBytes] !== typeOfAccount) return undefined;
  const state = data[108];
  if (state === 0) return undefined;
  return {
    mint: getAddressDecoder().decode(data, 0),
    owner: getAddressDecoder().decode(data, 32),
    amount: viewOf(data).getBigUint64(64, true),
    isFrozen: state === frozen,
  };
};

/** A mint's decimals; undefined if the account is no mint. */
export const readDecimals = (account: StoredAccount | undefined): number | undefined => {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const isMint =
    data.length === mintBytes || (data.length > accountBytes && data[accountBytes] === typeOfMint);
  return isMint ? data[44] : undefined;
};

const viewOf = (data: Uint8Array): DataView =>
  new DataView(data.buffer, data.byteOffset, data.byteLength);

/** An amount as a node writes it. */
export const writeTokenAmount = (amount: bigint, decimals: number) => {
  const digits = String(amount).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const uiAmountString = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: String(amount), decimals, uiAmount: Number(uiAmountString), uiAmountString };
};
