import { useState } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import styles from "../../ui/ui.module.css";
import { type SignatureCheck, checkSignature } from "./check-signature.ts";
import { getCodeSamples } from "./code-samples.ts";
import { texts } from "./texts.ts";

/** Shows code samples that verify signatures, and a form that checks a pasted one. */
export const VerifyCode = ({ headerPrefix }: { headerPrefix: string }) => {
  const samples = getCodeSamples(headerPrefix);
  const [language, setLanguage] = useState(Object.keys(samples)[0] ?? "");
  const code = samples[language] ?? "";
  return (
    <>
      <p className={styles["quiet"]}>{texts.verifySignaturesText}</p>
      <Select
        label={texts.language}
        value={language}
        onValueChange={setLanguage}
        options={Object.keys(samples).map((name) => ({ value: name, text: name }))}
      />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Scrollable content must be reachable by keyboard. */}
      <pre className={styles["code"]} tabIndex={0} role="region" aria-label={language}>
        {code}
      </pre>
      <div>
        <CopyButton text={code} />
      </div>
      <details>
        <summary>{texts.checkSignature}</summary>
        <CheckForm headerPrefix={headerPrefix} />
      </details>
    </>
  );
};

const CheckForm = ({ headerPrefix }: { headerPrefix: string }) => {
  const [result, setResult] = useState<SignatureCheck>();
  return (
    <Form
      submitLabel={texts.checkSignature}
      variant="plain"
      onSubmit={async ({ secret = "", timestamp = "", signature = "", body = "" }) => {
        setResult(await checkSignature({ secret, timestamp, signature, body }, new Date()));
      }}
    >
      <p className={styles["quiet"]}>{texts.checkSignatureText}</p>
      <Field name="secret" label={texts.secret} type="password" isRequired />
      <Field
        name="timestamp"
        label={texts.header(`${headerPrefix}-Timestamp`)}
        isRequired
        inputProps={{ inputMode: "numeric" }}
      />
      <Field name="signature" label={texts.header(`${headerPrefix}-Signature`)} isRequired />
      <Field name="body" label={texts.body} rows={5} isRequired />
      {result !== undefined && (
        <Notice tone={result === "isGenuine" ? "good" : "bad"}>{texts[result]}</Notice>
      )}
    </Form>
  );
};
