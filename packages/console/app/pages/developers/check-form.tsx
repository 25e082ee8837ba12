import { useState } from "react";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { type SignatureCheck, checkSignature } from "./check-signature.ts";
import { texts } from "./texts.ts";

/** Checks a pasted signature in the browser. */
export const CheckForm = ({ headerPrefix }: { headerPrefix: string }) => {
  const [result, setResult] = useState<SignatureCheck>();
  return (
    <Form
      submitLabel={texts.checkSignature}
      variant="plain"
      onSubmit={async ({ secret = "", timestamp = "", signature = "", body = "" }) => {
        setResult(await checkSignature({ secret, timestamp, signature, body }, new Date()));
      }}
    >
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
