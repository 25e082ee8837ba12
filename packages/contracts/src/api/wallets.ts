import * as z from "zod";
import type { Catalogue, CatalogueToken } from "../catalogue.ts";
import { Mode } from "../mode.ts";
import { TokenData, UserWalletData } from "../payment-link.ts";
import {
  type Parser,
  body,
  bool,
  optional,
  integer,
  nullable,
  required,
  text,
} from "../validation.ts";
import { type Operation, listOf, wireCount, wireInstant } from "./operation.ts";

/** Far more addresses than any wallet app scans. */
const firstAddressIndexMax = 1_000_000;

/** Returns the request schema of a new wallet. Its token must be in the catalogue. */
export const createWalletBody = ({
  tokens,
  findToken,
}: Pick<Catalogue, "tokens" | "findToken">) => {
  const tokenParser: Parser<CatalogueToken> = {
    schema: { type: "string", enum: tokens.map((token) => token.id) },
    parse: (input) => {
      const token = typeof input === "string" ? findToken(input) : undefined;
      return token === undefined ? "enum" : { value: token };
    },
  };
  return body({
    walletAddress: required(text({ lengthMax: 300 })).describe(
      "An address on the token's chain. On Bitcoin, the account's extended public key or descriptor.",
    ),
    tokenId: required(tokenParser),
    firstAddressIndex: nullable(integer({ min: 0, max: firstAddressIndexMax })).describe(
      "On Bitcoin, the index of the first address that links use. Defaults to 0. Lower indexes stay reserved for " +
        "your own wallet app, so that it never shows the address of an open link. Ignored on other chains.",
    ),
    isDefault: nullable(bool).describe(
      "Whether new links use this wallet. Defaults to true for the account's first wallet of its mode, otherwise to false.",
    ),
  }).meta({ id: "NewWallet" });
};

/** The changes to a wallet's default flags. Omitted flags keep their value. */
export const WalletChange = body({
  isDefault: optional(bool),
  isChainDefault: optional(bool),
}).meta({ id: "WalletChange" });

/** A wallet as its owner sees it. */
export const OwnWallet = z
  .object({
    id: z.string(),
    ...UserWalletData.shape,
    mode: Mode.meta({
      description:
        "`test` for a wallet on a test network, otherwise `live`. There is one default wallet per mode.",
    }),
    firstAddresses: z.array(z.string()).nullable().meta({
      description:
        "On Bitcoin, the key's first 5 addresses, to compare with those in your wallet app. Null on other chains.",
    }),
    firstAddressIndex: wireCount.nullable().meta({
      description:
        "On Bitcoin, the index of the first address that links use. Null on other chains.",
    }),
    defaultAt: wireInstant.nullable().meta({
      description: "When the wallet becomes the default. Null if no such change is scheduled.",
    }),
  })
  .meta({ id: "OwnWallet" });
export type OwnWallet = z.output<typeof OwnWallet>;

const CatalogueEntry = z
  .object({
    id: z.string(),
    token: TokenData,
    walletForm: z.enum(["address", "hex_address", "key"]).meta({
      description:
        "What the owner enters for a wallet in this token: an address, an address of `0x` and 40 hex digits, or an " +
        "account's extended public key or descriptor.",
    }),
    mode: Mode.meta({ description: "The mode of a new wallet in this token." }),
  })
  .meta({ id: "CatalogueEntry" });
export type CatalogueEntry = z.output<typeof CatalogueEntry>;

const collectionOperation = {
  path: "/console/api/wallets",
  caller: "session",
  tag: "Wallets",
} as const;
const itemOperation = { ...collectionOperation, path: "/console/api/wallets/:id" } as const;

/** The operations on the signed-in user's wallets. */
export const walletOperations = (catalogue: Pick<Catalogue, "tokens" | "findToken">) =>
  ({
    listTokens: {
      ...collectionOperation,
      method: "get",
      path: "/console/api/tokens",
      operationId: "listTokens",
      summary: "List the tokens that a wallet can receive",
      responses: { 200: listOf(CatalogueEntry).meta({ id: "TokenList" }) },
    },
    list: {
      ...collectionOperation,
      method: "get",
      operationId: "listWallets",
      summary: "List the wallets, oldest first",
      responses: { 200: listOf(OwnWallet).meta({ id: "WalletList" }) },
    },
    add: {
      ...collectionOperation,
      method: "post",
      needsPresence: true,
      operationId: "addWallet",
      summary: "Add a wallet that receives payments in one token",
      body: createWalletBody(catalogue),
      responses: { 201: OwnWallet },
      errors: [
        "INVALID_WALLET_ADDRESS",
        "SOLANA_WALLET_REQUIRED",
        "BITCOIN_KEY_REQUIRED",
        "PRIVATE_KEY_REFUSED",
        "WALLET_EXISTS",
        "WALLET_LIMIT",
        "SERVICE_UNAVAILABLE",
      ],
    },
    change: {
      ...itemOperation,
      method: "patch",
      needsPresence: true,
      operationId: "changeWallet",
      summary: "Change whether a wallet is the default",
      description:
        "A new default can take effect after a delay (see `defaultAt`). `isDefault: false` cancels a pending change.",
      body: WalletChange,
      responses: { 200: OwnWallet },
      errors: ["SOLANA_WALLET_REQUIRED", "SERVICE_UNAVAILABLE"],
    },
    delete: {
      ...itemOperation,
      method: "delete",
      needsPresence: true,
      operationId: "deleteWallet",
      summary: "Delete a wallet",
      description: "Existing payment links do not change.",
      responses: { 204: null },
    },
  }) as const satisfies Record<string, Operation>;
