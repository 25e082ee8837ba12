import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { sessionKey } from "../api/query.ts";
import type { Arrival } from "../ceremonies/arrival.ts";
import { Loaded } from "../ui/loaded.tsx";
import { Notice } from "../ui/notice.tsx";
import { onDemand } from "../ui/on-demand.tsx";
import styles from "./frame.module.css";
import { AccountContext, useSession } from "./session.ts";
import { texts } from "./texts.ts";

const SignIn = onDemand(() => import("../pages/sign-in/sign-in.tsx"));

/** Shows the console to whoever is signed in, and to everybody else the ways in. */
export const SessionGate = ({ arrival, children }: { arrival: Arrival; children: ReactNode }) => {
  const session = useSession();
  const [isArriving, setArriving] = useState(
    arrival.token !== undefined || arrival.error !== undefined,
  );
  const id = session.data?.id;
  useForgetting(id);
  if (arrival.isProof) {
    return (
      <main className={styles["alone"]}>
        <h1>{texts.product}</h1>
        <Notice tone="good">{texts.proven}</Notice>
      </main>
    );
  }
  if (session.data !== undefined && session.data !== null && !isArriving) {
    return (
      <AccountContext value={session.data} key={id}>
        {children}
      </AccountContext>
    );
  }
  return (
    <main className={styles["alone"]}>
      <Loaded query={session}>
        {(account) => (
          <SignIn
            account={account}
            arrival={isArriving ? arrival : undefined}
            onDone={() => setArriving(false)}
          />
        )}
      </Loaded>
    </main>
  );
};

/** Whatever was read for one person is forgotten before another one, or nobody, is shown anything. */
const useForgetting = (id: string | undefined): void => {
  const client = useQueryClient();
  useEffect(
    () => () => {
      if (id === undefined) return;
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    },
    [client, id],
  );
};
