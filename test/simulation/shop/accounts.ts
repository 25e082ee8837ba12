import {
  type Account,
  type IntrospectionAnswer,
  hashSecret,
  mintApiKey,
  newId,
  scopes,
} from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { ChainKind } from "../chain-kinds.ts";

type AccountRow = { account: Account; key: string; session: string };

/** The accounts of all shops; an order names its own by its number. */
export type Accounts = readonly AccountRow[];

const newAccount = (
  number: number,
  { chainType, tokens: [token], wallets }: ChainKind,
): AccountRow => ({
  key: mintApiKey("test"),
  session: newId("sess"),
  account: sampleAccount({
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
 * One for each wallet. Those without endpoints come late, so that addresses are heard of while a chain is
 * watched.
 */
export const openAccounts = (kind: ChainKind): Accounts =>
  kind.wallets.map((_, number) => newAccount(number, kind));

const accountOf = ({ accounts }: { accounts: Accounts }, number: number): AccountRow => {
  const found = accounts[number];
  if (found === undefined) throw new RangeError("no such account");
  return found;
};

/** What an account sends with a call of the API, and with one of the console. */
export const keyOf = (shop: { accounts: Accounts }, number: number): { "x-api-key": string } => ({
  "x-api-key": accountOf(shop, number).key,
});
export const cookieOf = (shop: { accounts: Accounts }, number: number): { cookie: string } => {
  const { session } = accountOf(shop, number);
  return { cookie: `session-links=${session}; session-webhooks=${session}` };
};

type Ask = (asked: { kind: string; hash: string }) => Promise<IntrospectionAnswer>;

/** Who is calling? It is answered in place of auth-keys. */
export const openIntrospection = (accounts: Accounts): Ask => {
  const answers = new Map<string, IntrospectionAnswer>();
  for (const { account, key, session } of accounts) {
    const credential = {
      id: newId("key"),
      bucketId: newId("key"),
      scopes: [...scopes],
      expiresAt: null,
      // Its people are there all the time.
      presence: { provenAt: new Date(8.64e15), methods: [] },
    };
    for (const [kind, secret] of [
      ["api-key", key],
      ["session", session],
    ] as const) {
      answers.set(`${kind} ${hashSecret(secret).toString("hex")}`, {
        found: true,
        account,
        credential,
      });
    }
  }
  return async ({ hash, kind }) => answers.get(`${kind} ${hash}`) ?? { found: false };
};
