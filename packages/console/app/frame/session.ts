import { useQueryClient, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { hasApiErrorCode } from "../api/api-error.ts";
import { callOperation, sessionEvents } from "../api/call.ts";
import type { OwnAccount } from "../api/operations.ts";
import { subscribeToOtherTabs, notifyOtherTabs } from "../api/other-tabs.ts";
import { sessionKey } from "../api/query.ts";
import { mode } from "../mode.ts";

export const AccountContext = createContext<OwnAccount | undefined>(undefined);

/** Returns the signed-in account. For use only in views that require a session. */
export const useAccount = (): OwnAccount => {
  const account = useContext(AccountContext);
  if (account === undefined) throw new Error("no account is signed in");
  return account;
};

/** Returns whether the account has what links of this page's mode require. */
export const useIsReady = (): boolean => {
  const { isReady, isTestReady } = useAccount();
  return mode === "test" ? isTestReady : isReady;
};

const fetchAccount = async (): Promise<OwnAccount | null> => {
  try {
    return await callOperation("getSession");
  } catch (error) {
    if (hasApiErrorCode(error, "UNAUTHENTICATED")) return null;
    throw error;
  }
};

/** Returns the session and keeps it in sync with other tabs. */
export const useSession = () => {
  const client = useQueryClient();
  useEffect(() => {
    const clearSession = () => client.setQueryData(sessionKey, null);
    sessionEvents.addEventListener("ended", clearSession);
    const unsubscribe = subscribeToOtherTabs((message) => {
      if (message === "signed out") clearSession();
      if (message === "signed in") void client.invalidateQueries({ queryKey: sessionKey });
    });
    return () => {
      sessionEvents.removeEventListener("ended", clearSession);
      unsubscribe();
    };
  }, [client]);
  return useQuery({ queryKey: sessionKey, queryFn: fetchAccount });
};

/** Returns a function that clears cached data and refetches the session after the account changed. */
export const useRefreshSession = () => {
  const client = useQueryClient();
  return async (): Promise<void> => {
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    await client.invalidateQueries({ queryKey: sessionKey });
    notifyOtherTabs("signed in");
  };
};

/** Returns a function that signs out, here and in all tabs of this browser. */
export const useSignOut = () => {
  const client = useQueryClient();
  return async (): Promise<void> => {
    await callOperation("signOut").catch((error: unknown) => {
      if (!hasApiErrorCode(error, "UNAUTHENTICATED")) throw error;
    });
    client.setQueryData(sessionKey, null);
    notifyOtherTabs("signed out");
  };
};
