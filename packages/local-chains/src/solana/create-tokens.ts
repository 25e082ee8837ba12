import {
  AccountRole,
  type Address,
  type Instruction,
  type KeyPairSigner,
  getAddressEncoder,
} from "@solana/kit";
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToCheckedInstruction,
} from "@solana-program/token";
import type { LiteSVM } from "litesvm";
import { createAccountInstruction, createSigner } from "./sign-transaction.ts";
import { mintLength, tokenPrograms } from "./token-account.ts";

/** The length of a mint with the fee extension. It includes the bytes before the extensions. */
const feeMintLength = 278;
/** The fee on each transfer, in basis points (0.01%). */
const feeBasisPoints = 100;
const feeMax = 5_000_000n;

/** The rig's tokens. */
const tokenKinds = {
  usdc: { symbol: "USDC", decimals: 6, program: tokenPrograms.token, hasFee: false },
  /** A token of the same program and with the same decimals that is not in the catalogue. */
  other: { symbol: "OTHER", decimals: 6, program: tokenPrograms.token, hasFee: false },
  coin9: { symbol: "COIN9", decimals: 9, program: tokenPrograms.token, hasFee: false },
  /** A Token-2022 token without extensions. */
  newer: { symbol: "NEWER", decimals: 6, program: tokenPrograms.token2022, hasFee: false },
  /** A Token-2022 token that withholds 1% of each transfer. */
  fee: { symbol: "FEE", decimals: 6, program: tokenPrograms.token2022, hasFee: true },
} as const;
export type TokenName = keyof typeof tokenKinds;
const tokenNames: readonly TokenName[] = ["usdc", "other", "coin9", "newer", "fee"];

export type Token = {
  name: TokenName;
  symbol: string;
  decimals: number;
  program: Address;
  /** The address of the mint. */
  mint: Address;
};

/** Returns the tokens. Their mints are not created yet. */
export const listTokens = async (): Promise<ReadonlyMap<TokenName, Token>> => {
  const tokens = new Map<TokenName, Token>();
  for (const name of tokenNames) {
    const { symbol, decimals, program } = tokenKinds[name];
    const { address: mint } = await createSigner(`mint ${name}`);
    tokens.set(name, { name, symbol, decimals, program, mint });
  }
  return tokens;
};

/** Returns the instructions that create a token's mint. */
export const createMintInstructions = async (
  svm: LiteSVM,
  { token, issuer }: { token: Token; issuer: KeyPairSigner },
): Promise<Instruction[]> => {
  const { hasFee } = tokenKinds[token.name];
  const bytes = hasFee ? feeMintLength : mintLength;
  const account = await createSigner(`mint ${token.name}`);
  const lamports = svm.minimumBalanceForRentExemption(BigInt(bytes));
  const { mint, decimals, program: programAddress } = token;
  const mintConfig = { mint, decimals, mintAuthority: issuer.address };
  return [
    createAccountInstruction({ payer: issuer, account, lamports, bytes, owner: token.program }),
    ...(hasFee ? [createInitializeFeeInstruction(token, issuer.address)] : []),
    getInitializeMint2Instruction(mintConfig, { programAddress }),
  ];
};

/**
 * Creates Token-2022's `InitializeTransferFeeConfig` instruction. No library supports it for this
 * version of kit.
 */
const createInitializeFeeInstruction = (
  { mint, program }: Token,
  authority: Address,
): Instruction => {
  const authorityBytes = getAddressEncoder().encode(authority);
  const data = Buffer.alloc(78);
  data.writeUInt8(26, 0);
  data.writeUInt8(1, 2);
  data.set(authorityBytes, 3);
  data.writeUInt8(1, 35);
  data.set(authorityBytes, 36);
  data.writeUInt16LE(feeBasisPoints, 68);
  data.writeBigUInt64LE(feeMax, 70);
  return {
    programAddress: program,
    accounts: [{ address: mint, role: AccountRole.WRITABLE }],
    data: new Uint8Array(data),
  };
};

/** Returns the account where wallets expect an owner's tokens. */
export const findAssociatedAccount = async (token: Token, owner: Address): Promise<Address> => {
  const { mint, program: tokenProgram } = token;
  return (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];
};

/** Creates the associated token account unless it exists. */
export const createAssociatedAccountInstruction = async (
  token: Token,
  { owner, payer }: { owner: Address; payer: KeyPairSigner },
): Promise<Instruction> =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer,
    owner,
    ata: await findAssociatedAccount(token, owner),
    mint: token.mint,
    tokenProgram: token.program,
  });

/** Mints tokens into an owner's account. */
export const createMintToInstruction = async (
  token: Token,
  { owner, amount, issuer }: { owner: Address; amount: bigint; issuer: KeyPairSigner },
): Promise<Instruction> =>
  getMintToCheckedInstruction(
    {
      mint: token.mint,
      token: await findAssociatedAccount(token, owner),
      mintAuthority: issuer,
      amount,
      decimals: token.decimals,
    },
    { programAddress: token.program },
  );
