import {
  type Account,
  type IntrospectionResponse,
  hashSecret,
  generateApiKey,
  newId,
  scopes,
} from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { ChainKind } from "../chain-kinds.ts";

type AccountRow = { account: Account; key: string; session: string };

/** The accounts of all shops. An order refers to its account by index. */
export type Accounts = readonly AccountRow[];

const createAccount = (
  number: number,
  { chainType, tokens: [token], wallets }: ChainKind,
): AccountRow => ({
  key: generateApiKey("test"),
  session: newId("sess"),
  account: createSampleAccount({
    handle: `shop${number}`,
    username: "A Shop",
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: wallets[number] ?? "",
        tokenId: token.id,
        chainType,
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  }),
});

/**
 * Creates one account per wallet. Accounts without endpoints are created late, so that the listener
 * receives addresses while it watches a chain.
 */
export const createAccounts = (kind: ChainKind): Accounts =>
  kind.wallets.map((_, number) => createAccount(number, kind));

const getAccount = ({ accounts }: { accounts: Accounts }, number: number): AccountRow => {
  const accountRow = accounts[number];
  if (accountRow === undefined) throw new RangeError("no such account");
  return accountRow;
};

export const getApiKeyHeader = (
  shop: { accounts: Accounts },
  number: number,
): { "x-api-key": string } => ({
  "x-api-key": getAccount(shop, number).key,
});
export const getCookieHeader = (
  shop: { accounts: Accounts },
  number: number,
): { cookie: string } => {
  const { session } = getAccount(shop, number);
  return { cookie: `session-links=${session}; session-webhooks=${session}` };
};

type RequestIntrospection = (request: {
  kind: string;
  hash: string;
}) => Promise<IntrospectionResponse>;

/** Creates a stub that introspects credentials instead of auth-keys. */
export const createIntrospectionStub = (accounts: Accounts): RequestIntrospection => {
  const responses = new Map<string, IntrospectionResponse>();
  for (const { account, key, session } of accounts) {
    const credential = {
      id: newId("key"),
      bucketId: newId("key"),
      scopes: [...scopes],
      expiresAt: null,
      // The account's users always have a valid proof of presence.
      presence: { provenAt: new Date(8.64e15), methods: [] },
    };
    for (const [kind, secret] of [
      ["api-key", key],
      ["session", session],
    ] as const) {
      responses.set(`${kind} ${hashSecret(secret).toString("hex")}`, {
        found: true,
        account,
        credential,
      });
    }
  }
  return async ({ hash, kind }) => responses.get(`${kind} ${hash}`) ?? { found: false };
};
