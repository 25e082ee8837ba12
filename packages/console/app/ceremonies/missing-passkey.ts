import { isFirstLoad, useOperationQuery } from "../api/query.ts";

/** All accounts in this browser share this key, so that it does not reveal who signs in here. */
const declinedKey = "passkey declined";

/** Returns whether a user of this browser declined to add a passkey after a sign-in. */
export const isPasskeyDeclined = (): boolean => localStorage.getItem(declinedKey) !== null;

export const declinePasskey = (): void => localStorage.setItem(declinedKey, "1");

/**
 * Returns whether the account has no sign-in method of its own, although it could have a passkey.
 * It then depends on the operator's sign-in links, also to confirm sensitive changes.
 */
export const useMissingPasskey = (): { isMissing: boolean; isFirstLoad: boolean } => {
  const methods = useOperationQuery("listSignInMethods", {});
  const passkeys = useOperationQuery("listPasskeys", {});
  const identities = useOperationQuery("listIdentities", {});
  return {
    isMissing:
      methods.data?.methods.includes("passkey") === true &&
      passkeys.data?.data.length === 0 &&
      identities.data?.data.length === 0,
    isFirstLoad: isFirstLoad([methods, passkeys, identities]),
  };
};
