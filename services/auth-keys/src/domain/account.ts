import { type Account, type OwnAccount, findDefaultWallet } from "@payment-links/contracts";

type Profile = Pick<
  Account,
  "username" | "bio" | "profileImage" | "backgroundImage" | "backgroundColour" | "links"
>;

/** What an owner may change of the account. What is left out stays as it is. */
export type AccountPatch = {
  [Field in keyof Profile | "handle"]?: Account[Field] | undefined;
};

type NewAccount = {
  id: string;
  handle: string | null;
  username: string;
  /** Whether an operator opens it, and so vouches for it (rule CALLER-38). */
  isVerified: boolean;
  now: Date;
};

/** Opens an account with a name, perhaps a handle, and nothing else yet. */
export const buildAccount = ({ id, handle, username, isVerified, now }: NewAccount): Account => ({
  id,
  version: 1,
  handle,
  username,
  dateCreated: now,
  profileImage: null,
  bio: null,
  backgroundImage: null,
  backgroundColour: null,
  links: null,
  wallets: [],
  isVerified,
});

/** The account after a change, and the names of the fields that differ by it. */
export const applyAccountPatch = (
  account: Account,
  patch: AccountPatch,
): { updatedAccount: Account; changedFields: string[] } => {
  const entries = Object.entries(patch).filter(
    ([field, value]) =>
      value !== undefined && !isSameValue(value, account[field as keyof AccountPatch]),
  );
  return {
    updatedAccount: { ...account, ...Object.fromEntries(entries) },
    changedFields: entries.map(([field]) => field),
  };
};

// Values here are texts, null or lists of texts.
const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Shows an account to its owner (rule CALLER-6). */
export const serializeAccount = (account: Account): OwnAccount => ({
  id: account.id,
  handle: account.handle,
  username: account.username,
  bio: account.bio,
  profileImage: account.profileImage,
  backgroundImage: account.backgroundImage,
  backgroundColour: account.backgroundColour,
  links: account.links,
  dateCreated: account.dateCreated.toISOString(),
  isReady: isReady(account),
});

/** Whether the account can make payment links: it has a handle and a default wallet (rule API-18). */
const isReady = (account: Account): boolean =>
  account.handle !== null && findDefaultWallet(account) !== undefined;
