import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { sessionKey } from "../api/query.ts";
import type { InitialUrlParams } from "../ceremonies/initial-url-params.ts";
import { QueryView } from "../ui/query-view.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card } from "../ui/page.tsx";
import { createLazyComponent } from "../ui/lazy-component.tsx";
import styles from "./frame.module.css";
import { AccountContext, useSession } from "./session.ts";
import { texts } from "./texts.ts";

const SignIn = createLazyComponent(() => import("../pages/sign-in/sign-in.tsx"));

/** Shows the console to signed-in users, and the sign-in view to everyone else. */
export const RequireSession = ({
  initialUrlParams,
  children,
}: {
  initialUrlParams: InitialUrlParams;
  children: ReactNode;
}) => {
  const session = useSession();
  const [isShowingSignIn, setShowingSignIn] = useState(
    initialUrlParams.token !== undefined || initialUrlParams.error !== undefined,
  );
  const id = session.data?.id;
  useClearCacheOnAccountChange(id);
  if (initialUrlParams.isPresenceProof) {
    return (
      <main className={styles["alone"]}>
        <Card>
          <h1>{texts.product}</h1>
          <Notice tone="good">{texts.presenceProven}</Notice>
        </Card>
      </main>
    );
  }
  if (session.data !== undefined && session.data !== null && !isShowingSignIn) {
    return (
      <AccountContext value={session.data} key={id}>
        {children}
      </AccountContext>
    );
  }
  return (
    <main className={styles["alone"]}>
      <QueryView query={session}>
        {(account) => (
          <SignIn
            account={account}
            initialUrlParams={isShowingSignIn ? initialUrlParams : undefined}
            onDone={() => setShowingSignIn(false)}
          />
        )}
      </QueryView>
    </main>
  );
};

/** Clears cached data when the user signs out or the account changes. */
const useClearCacheOnAccountChange = (id: string | undefined): void => {
  const client = useQueryClient();
  useEffect(
    () => () => {
      if (id === undefined) return;
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    },
    [client, id],
  );
};
