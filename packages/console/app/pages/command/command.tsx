import { useState } from "react";
import { Link } from "react-router";
import { hasApiErrorCode } from "../../api/api-error.ts";
import { callOperation } from "../../api/call.ts";
import type { PendingCommandSignIn } from "../../api/operations.ts";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { Approval } from "./approval.tsx";
import { texts } from "./texts.ts";

type FoundSignIn = { code: string; signIn: PendingCommandSignIn };

/**
 * Signs in a command line: the user enters its code, compares the device, and allows or denies it.
 * The code is not part of the address, so a link from someone else cannot fill it in.
 */
const CommandSignIn = () => {
  const [found, setFound] = useState<FoundSignIn>();
  const [result, setResult] = useState<"allowed" | "denied">();
  return (
    <Page title={texts.title}>
      {result !== undefined && (
        <Card>
          <Notice tone={result === "allowed" ? "good" : "plain"}>
            <p>{texts[result]}</p>
          </Notice>
          <p>
            <Link to="/keys">{texts.viewKeys}</Link>
          </p>
        </Card>
      )}
      {result === undefined && found === undefined && <CodeForm onFound={setFound} />}
      {result === undefined && found !== undefined && <Approval {...found} onResult={setResult} />}
    </Page>
  );
};
export default CommandSignIn;

const CodeForm = ({ onFound }: { onFound: (found: FoundSignIn) => void }) => {
  const [isUnknown, setUnknown] = useState(false);
  const find = async ({ code = "" }: Readonly<Record<string, string>>): Promise<void> => {
    setUnknown(false);
    try {
      onFound({ code, signIn: await callOperation("getCommandSignIn", { path: { code } }) });
    } catch (error) {
      if (!hasApiErrorCode(error, "NOT_FOUND")) throw error;
      setUnknown(true);
    }
  };
  return (
    <Card>
      <p className={styles["quiet"]}>
        {texts.intro} <code>payment-links login</code>
      </p>
      <Form submitLabel={texts.continue} onSubmit={find}>
        <Field
          name="code"
          label={texts.code}
          hint={texts.codeHint}
          isRequired
          maxLength={20}
          inputProps={{ autoCapitalize: "characters", spellCheck: false }}
        />
        {isUnknown && <Notice tone="bad">{texts.notFound}</Notice>}
      </Form>
    </Card>
  );
};
