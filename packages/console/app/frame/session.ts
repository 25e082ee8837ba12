import { useQueryClient, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { isRefused } from "../api/api-error.ts";
import { call, sessionEnded } from "../api/call.ts";
import type { OwnAccount } from "../api/operations.ts";
import { hearOtherTabs, tellOtherTabs } from "../api/other-tabs.ts";
import { sessionKey } from "../api/query.ts";

/** The account that is signed in. */
export const AccountContext = createContext<OwnAccount | undefined>(undefined);

/** The account that is signed in, for what only whoever is signed in sees. */
export const useAccount = (): OwnAccount => {
  const account = useContext(AccountContext);
  if (account === undefined) throw new Error("nobody is signed in here");
  return account;
};

const findAccount = async (): Promise<OwnAccount | null> => {
  try {
    return await call("getSession");
  } catch (error) {
    if (isRefused(error, "UNAUTHENTICATED")) return null;
    throw error;
  }
};

/** Who is signed in, kept true with what happens in other tabs. */
export const useSession = () => {
  const client = useQueryClient();
  useEffect(() => {
    const end = () => client.setQueryData(sessionKey, null);
    sessionEnded.addEventListener("ended", end);
    const hearNoMore = hearOtherTabs((told) => {
      if (told === "signed out") end();
      if (told === "signed in") void client.invalidateQueries({ queryKey: sessionKey });
    });
    return () => {
      sessionEnded.removeEventListener("ended", end);
      hearNoMore();
    };
  }, [client]);
  return useQuery({ queryKey: sessionKey, queryFn: findAccount });
};

/** Says that somebody else, or nobody, is signed in by now: nothing known before is theirs. */
export const useNewSession = () => {
  const client = useQueryClient();
  return async (): Promise<void> => {
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    await client.invalidateQueries({ queryKey: sessionKey });
    tellOtherTabs("signed in");
  };
};

/** Signs out, here and in all tabs of this browser. */
export const useSignOut = () => {
  const client = useQueryClient();
  return async (): Promise<void> => {
    await call("signOut").catch((error: unknown) => {
      if (!isRefused(error, "UNAUTHENTICATED")) throw error;
    });
    client.setQueryData(sessionKey, null);
    tellOtherTabs("signed out");
  };
};
