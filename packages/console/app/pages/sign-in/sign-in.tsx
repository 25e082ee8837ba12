import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { addressOf, call } from "../../api/call.ts";
import type { OwnAccount, SignIn as Proof, SignInLinkOwner } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import type { Arrival } from "../../ceremonies/arrival.ts";
import { signByWallet } from "../../ceremonies/sign-by-wallet.ts";
import { signByPasskey } from "../../ceremonies/use-passkey.ts";
import { useNewSession } from "../../frame/session.ts";
import { Button } from "../../ui/button.tsx";
import { Action } from "../../ui/form.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

type SignInProps = {
  account: OwnAccount | null;
  arrival: Arrival | undefined;
  /** The person is where they wanted to be. */
  onDone: () => void;
};

/** The ways in, or what the address brought along: a sign-in link, or why a sign-in failed. */
const SignIn = ({ account, arrival, onDone }: SignInProps) => {
  useEffect(() => {
    document.title = `${texts.title} · Payment Links`;
  }, []);
  return (
    <>
      <h1>{texts.title}</h1>
      {arrival?.error !== undefined && <Failure code={arrival.error} />}
      {arrival?.token !== undefined && (
        <Question token={arrival.token} account={account} onDone={onDone} />
      )}
      {account !== null && (
        <div>
          <Button onPress={onDone}>
            <Sentence words={texts.stay} name={account.username} />
          </Button>
        </div>
      )}
      {account === null && <Ways isAfterLink={arrival?.token !== undefined} onDone={onDone} />}
    </>
  );
};
export default SignIn;

const Failure = ({ code }: { code: string }) => (
  <Notice tone="bad">{new Map(Object.entries(texts.errors)).get(code) ?? texts.failed}</Notice>
);

/** Says whom a link signs in, and whom it signs out, and waits for a click. */
const Question = ({
  token,
  account,
  onDone,
}: {
  token: string;
  account: OwnAccount | null;
  onDone: () => void;
}) => {
  // The token is no part of the key, which a person may be shown.
  const owner = useQuery({
    queryKey: ["askAboutSignInLink"],
    queryFn: () => call("askAboutSignInLink", { body: { token } }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const renew = useNewSession();
  const signIn = async (): Promise<void> => {
    await call("signIn", { body: { token } });
    await renew();
    onDone();
  };
  return (
    <Loaded query={owner}>
      {({ handle, username }: SignInLinkOwner) => (
        <Card title={texts.isThisYou}>
          <p>
            {texts.signsIn} <bdi>{username}</bdi>
            {handle === null ? "" : ` (@${handle})`}.
          </p>
          {account !== null && <p>{texts.signsOut(account.username, username)}</p>}
          <div className={styles["row"]}>
            <Action look="primary" onPress={signIn}>
              <Sentence words={texts.signInAs} name={username} />
            </Action>
          </div>
        </Card>
      )}
    </Loaded>
  );
};

const Ways = ({ isAfterLink, onDone }: { isAfterLink: boolean; onDone: () => void }) => {
  const methods = useCall("listSignInMethods", {});
  const renew = useNewSession();
  const signIn = async (proof: Proof): Promise<void> => {
    await call("signIn", { body: proof });
    await renew();
    onDone();
  };
  return (
    <Loaded query={methods}>
      {({ methods: names }) => (
        <Card {...(isAfterLink ? {} : { title: texts.signedOut })}>
          <p className={styles["quiet"]}>{texts.intro}</p>
          {names.includes("oidc") && (
            // A form would be stopped by the page's policy, as its answer leads to another origin.
            <a href={addressOf("startOidc")}>{texts.byOidc}</a>
          )}
          {names.includes("passkey") && (
            <Action onPress={async () => signIn({ passkey: await signByPasskey() })}>
              {texts.byPasskey}
            </Action>
          )}
          {names.includes("siwe") && (
            <Action onPress={async () => signIn({ siwe: await signByWallet() })}>
              {texts.bySiwe}
            </Action>
          )}
          {names.includes("link") && <p className={styles["quiet"]}>{texts.byLink}</p>}
        </Card>
      )}
    </Loaded>
  );
};
