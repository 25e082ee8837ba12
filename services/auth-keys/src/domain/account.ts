import {
  type Account,
  type Catalogue,
  type Mode,
  type OwnAccount,
  findDefaultWallet,
  isTestModeAvailable,
} from "@payment-links/contracts";

type Profile = Pick<
  Account,
  | "username"
  | "bio"
  | "profileImage"
  | "backgroundImage"
  | "backgroundColour"
  | "links"
  | "returnUrl"
>;

/** The fields that an owner may change. Omitted fields stay unchanged. */
export type AccountPatch = {
  [Field in keyof Profile | "handle"]?: Account[Field] | undefined;
};

type NewAccount = {
  id: string;
  handle: string | null;
  username: string;
  /**
   * Whether the account is verified from the start, because an operator creates it (rule
   * CALLER-38).
   */
  isVerified: boolean;
  now: Date;
};

/** Builds a new account with a name and optionally a handle. */
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
  returnUrl: null,
  wallets: [],
  isVerified,
});

/** Returns the account after a change, and the names of the changed fields. */
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

// Compares the values as JSON, because a value can be a list of strings.
const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Serializes an account for its owner (rule CALLER-6). */
export const serializeAccount = (account: Account, catalogue: Catalogue): OwnAccount => ({
  id: account.id,
  handle: account.handle,
  username: account.username,
  bio: account.bio,
  profileImage: account.profileImage,
  backgroundImage: account.backgroundImage,
  backgroundColour: account.backgroundColour,
  links: account.links,
  returnUrl: account.returnUrl ?? null,
  dateCreated: account.dateCreated.toISOString(),
  isReady: isReady(account, "live"),
  isTestReady: isReady(account, "test"),
  testModeAvailable: isTestModeAvailable(catalogue),
});

/**
 * Returns whether the account can create payment links in a mode: it has a handle and a default
 * wallet of that mode (rule API-18).
 */
const isReady = (account: Account, mode: Mode): boolean =>
  account.handle !== null && findDefaultWallet(account, mode) !== undefined;
