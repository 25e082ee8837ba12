import * as z from "zod";
import type { Catalogue, CatalogueToken } from "../catalogue.ts";
import { TokenData, UserWalletData } from "../payment-link.ts";
import {
  type Reader,
  body,
  bool,
  changed,
  integer,
  nullable,
  required,
  text,
} from "../validation.ts";
import { type Operation, listOf, wireCount, wireInstant } from "./operation.ts";

/** Far more addresses than a wallet app ever looks through. */
const firstAddressIndexMax = 1_000_000;

/** A new wallet; its token is one of the catalogue. */
export const walletBody = ({ tokens, findToken }: Pick<Catalogue, "tokens" | "findToken">) => {
  const knownToken: Reader<CatalogueToken> = {
    schema: { type: "string", enum: tokens.map((token) => token.id) },
    read: (input) => {
      const token = typeof input === "string" ? findToken(input) : undefined;
      return token === undefined ? "enum" : { value: token };
    },
  };
  return body({
    walletAddress: required(text({ lengthMax: 300 })).describe(
      "An address of the token's chain; on Bitcoin the account's extended public key or descriptor.",
    ),
    tokenId: required(knownToken),
    firstAddressIndex: nullable(integer({ min: 0, max: firstAddressIndexMax })).describe(
      "On Bitcoin the index of the first address that links get; 0 where not given. Leave those below to your own " +
        "wallet app, so that it never shows the address of an open link. Ignored on other chains.",
    ),
    isDefault: nullable(bool).describe("The account's first wallet is, where not given."),
  }).meta({ id: "NewWallet" });
};

/** Which defaults a wallet is to be; what is left out stays as it is. */
export const WalletChange = body({
  isDefault: changed(bool),
  isChainDefault: changed(bool),
}).meta({ id: "WalletChange" });

/** A wallet as its owner sees it. */
export const OwnWallet = z
  .object({
    id: z.string(),
    ...UserWalletData.shape,
    firstAddresses: z.array(z.string()).nullable().meta({
      description:
        "On Bitcoin the first five addresses of the key, which must be those of the owner's own wallet.",
    }),
    firstAddressIndex: wireCount.nullable().meta({
      description:
        "On Bitcoin the index of the first address that links get. Null on other chains.",
    }),
    defaultAt: wireInstant.nullable().meta({
      description: "When it becomes the default, if it was made so and that waits.",
    }),
  })
  .meta({ id: "OwnWallet" });
export type OwnWallet = z.output<typeof OwnWallet>;

const CatalogueEntry = z
  .object({ id: z.string(), token: TokenData })
  .meta({ id: "CatalogueEntry" });

const shared = { path: "/console/api/wallets", caller: "session", tag: "Wallets" } as const;
const one = { ...shared, path: "/console/api/wallets/:id" } as const;

/** What a signed-in person does with wallets. */
export const walletOperations = (catalogue: Pick<Catalogue, "tokens" | "findToken">) =>
  ({
    listTokens: {
      ...shared,
      method: "get",
      path: "/console/api/tokens",
      operationId: "listTokens",
      summary: "List the catalogue of tokens, from which a wallet's is chosen",
      answers: { 200: listOf(CatalogueEntry).meta({ id: "TokenList" }) },
    },
    list: {
      ...shared,
      method: "get",
      operationId: "listWallets",
      summary: "List the wallets, the oldest first",
      answers: { 200: listOf(OwnWallet).meta({ id: "WalletList" }) },
    },
    add: {
      ...shared,
      method: "post",
      needsPresence: true,
      operationId: "addWallet",
      summary: "Add an address at which the account is paid, in one token",
      body: walletBody(catalogue),
      answers: { 201: OwnWallet },
      refusals: [
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
      ...one,
      method: "patch",
      needsPresence: true,
      operationId: "changeWallet",
      summary: "Make a wallet the default, or no longer",
      description:
        "Another default may take effect only after a delay (`defaultAt`); `isDefault: false` cancels it.",
      body: WalletChange,
      answers: { 200: OwnWallet },
      refusals: ["SOLANA_WALLET_REQUIRED", "SERVICE_UNAVAILABLE"],
    },
    delete: {
      ...one,
      method: "delete",
      needsPresence: true,
      operationId: "deleteWallet",
      summary: "Delete a wallet; links made with it stay as they are",
      answers: { 204: null },
    },
  }) as const satisfies Record<string, Operation>;
