import markUrl from "@payment-links/design/icon.svg";
import { building, fingerprint, wallet } from "@payment-links/design/icons";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { buildOperationUrl, callOperation } from "../../api/call.ts";
import type { OwnAccount, SignIn as SignInProof, SignInLinkOwner } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import type { InitialUrlParams } from "../../ceremonies/initial-url-params.ts";
import { isPasskeyDeclined } from "../../ceremonies/missing-passkey.ts";
import { signWithWallet } from "../../ceremonies/sign-with-wallet.ts";
import { signWithPasskey } from "../../ceremonies/sign-with-passkey.ts";
import { useRefreshSession } from "../../frame/session.ts";
import { Button, ButtonAnchor } from "../../ui/button.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import uiStyles from "../../ui/ui.module.css";
import { PasskeyStep } from "./passkey-step.tsx";
import styles from "./sign-in.module.css";
import { texts } from "./texts.ts";

type SignInProps = {
  account: OwnAccount | null;
  initialUrlParams: InitialUrlParams | undefined;
  /** Called when the user has signed in or chooses to continue as the signed-in account. */
  onDone: () => void;
};

/**
 * The sign-in view. It also handles the sign-in link, or the error of a failed sign-in, in the URL.
 */
const SignIn = ({ account, initialUrlParams, onDone }: SignInProps) => {
  useEffect(() => {
    document.title = `${texts.documentTitle} · Payment Links`;
  }, []);
  const [isOfferingPasskey, setOfferingPasskey] = useState(false);
  const hasToken = initialUrlParams?.token !== undefined;
  if (isOfferingPasskey && account !== null) {
    return (
      <Card>
        <PasskeyStep onDone={onDone} />
      </Card>
    );
  }
  return (
    <Card>
      <header className={styles["header"]}>
        <img src={markUrl} alt="" width="40" height="40" />
        <h1>{texts.title}</h1>
        {!hasToken && <p className={uiStyles["quiet"]}>{texts.intro}</p>}
      </header>
      {initialUrlParams?.error !== undefined && <SignInError code={initialUrlParams.error} />}
      {initialUrlParams?.token !== undefined && (
        <ConfirmSignIn
          token={initialUrlParams.token}
          account={account}
          onDone={() => (isPasskeyDeclined() ? onDone() : setOfferingPasskey(true))}
        />
      )}
      {account !== null && (
        <div className={styles["methods"]}>
          <Button onPress={onDone}>
            <Sentence template={texts.staySignedInAs} name={account.username} />
          </Button>
        </div>
      )}
      {account === null && <SignInMethods hasPrimary={!hasToken} onDone={onDone} />}
    </Card>
  );
};
export default SignIn;

const SignInError = ({ code }: { code: string }) => (
  <Notice tone="bad">
    {new Map(Object.entries(texts.errors)).get(code) ?? texts.signInFailed}
  </Notice>
);

/** Shows which account the link signs in and which account it signs out. Waits for confirmation. */
const ConfirmSignIn = ({
  token,
  account,
  onDone,
}: {
  token: string;
  account: OwnAccount | null;
  onDone: () => void;
}) => {
  // The token is not part of the query key, because query keys can appear on screen.
  const linkOwner = useQuery({
    queryKey: ["askAboutSignInLink"],
    queryFn: () => callOperation("askAboutSignInLink", { body: { token } }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const refreshSession = useRefreshSession();
  const signIn = async (): Promise<void> => {
    await callOperation("signIn", { body: { token } });
    await refreshSession();
    onDone();
  };
  return (
    <QueryView query={linkOwner}>
      {({ handle, username }: SignInLinkOwner) => (
        <>
          <p>
            {texts.signsInAs} <bdi>{username}</bdi>
            {handle === null ? "" : ` (@${handle})`}.
          </p>
          {account !== null && <p>{texts.signOutWarning(account.username, username)}</p>}
          <div className={styles["methods"]}>
            <AsyncButton variant="primary" onPress={signIn}>
              <Sentence template={texts.signInAs} name={username} />
            </AsyncButton>
          </div>
        </>
      )}
    </QueryView>
  );
};

type SignInMethodsProps = {
  /** Whether the first method is the primary action of the view. */
  hasPrimary: boolean;
  onDone: () => void;
};

const SignInMethods = ({ hasPrimary, onDone }: SignInMethodsProps) => {
  const methods = useOperationQuery("listSignInMethods", {});
  const refreshSession = useRefreshSession();
  const signIn = async (proof: SignInProof): Promise<void> => {
    await callOperation("signIn", { body: proof });
    await refreshSession();
    onDone();
  };
  return (
    <QueryView query={methods}>
      {({ methods: methodNames }) => {
        const firstMethod = shownMethods.find((method) => methodNames.includes(method));
        const getVariant = (method: string) =>
          hasPrimary && method === firstMethod ? "primary" : "plain";
        return (
          <>
            <div className={styles["methods"]}>
              {methodNames.includes("oidc") && (
                // This is a link, because the page's content security policy blocks a form whose
                // response redirects to another origin.
                <ButtonAnchor
                  href={buildOperationUrl("startOidc")}
                  icon={building}
                  variant={getVariant("oidc")}
                >
                  {texts.signInWithOidc}
                </ButtonAnchor>
              )}
              {methodNames.includes("passkey") && (
                <AsyncButton
                  icon={fingerprint}
                  variant={getVariant("passkey")}
                  onPress={async () => signIn({ passkey: await signWithPasskey() })}
                >
                  {texts.signInWithPasskey}
                </AsyncButton>
              )}
              {methodNames.includes("siwe") && (
                <AsyncButton
                  icon={wallet}
                  variant={getVariant("siwe")}
                  onPress={async () => signIn({ siwe: await signWithWallet() })}
                >
                  {texts.signInWithEthereum}
                </AsyncButton>
              )}
            </div>
            {methodNames.includes("link") && (
              <p className={styles["hint"]}>{texts.signInLinkHint}</p>
            )}
          </>
        );
      }}
    </QueryView>
  );
};

/** The methods that have a button, in the order of the buttons. */
const shownMethods = ["oidc", "passkey", "siwe"] as const;
