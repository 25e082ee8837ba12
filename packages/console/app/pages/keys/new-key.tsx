import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import { createMaker } from "../../api/make-once.ts";
import { refresh } from "../../api/query.ts";
import { Check, Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import styles from "../../ui/ui.module.css";
import { LimitFields, readLimits } from "./limit-fields.tsx";
import { texts } from "./texts.ts";

const scopes = ["payment_link:create", "payment_link:read"] as const;
const dayMs = 86_400_000;

/** Makes a key and hands it on to be shown once. */
export const NewKey = ({ onSecret }: { onSecret: (secret: string) => void }) => {
  const client = useQueryClient();
  const maker = useRef(createMaker());
  const [hasNoScope, setNoScope] = useState(false);
  const create = async (fields: Readonly<Record<string, string>>, all: FormData) => {
    const chosen = scopes.filter((scope) => all.getAll("scope").includes(scope));
    setNoScope(chosen.length === 0);
    if (chosen.length === 0) return;
    const name = fields["name"] ?? "";
    const body = {
      name,
      scopes: chosen,
      expiresAt: expiryOf(fields["expiry"]),
      cidrs: fields["cidrs"]?.split(/[\s,]+/).filter((text) => text !== "") ?? null,
      ...readLimits(fields),
    };
    try {
      const { key } = await maker.current({
        name,
        list: async () => (await call("listApiKeys")).data,
        make: () => call("createApiKey", { body }),
      });
      onSecret(key);
    } finally {
      // Not waited for: it is read as soon as there is a connection.
      void refresh(client, ["listApiKeys"]);
    }
  };
  return (
    <Form submit={texts.create} onSubmit={create} isEmptied>
      <Field name="name" label={texts.name} hint={texts.nameHint} isRequired maxLength={100} />
      <fieldset className={styles["field"]}>
        <legend className={styles["label"]}>{texts.scopes}</legend>
        {scopes.map((scope) => (
          <Check
            key={scope}
            name="scope"
            value={scope}
            defaultChecked
            label={texts.scopeNames[scope]}
          />
        ))}
        {hasNoScope && <p className={styles["fault"]}>{texts.noScope}</p>}
      </fieldset>
      <Select
        name="expiry"
        label={texts.expiry}
        defaultValue=""
        options={[
          { value: "", text: texts.expiryNever },
          { value: "30", text: texts.expiry30 },
          { value: "90", text: texts.expiry90 },
          { value: "365", text: texts.expiry365 },
        ]}
      />
      <details>
        <summary>{texts.more}</summary>
        <div className={styles["form"]}>
          <Field name="cidrs" label={texts.cidrs} hint={texts.cidrsHint} />
          <LimitFields requestsPerMinute={null} burst={null} />
        </div>
      </details>
    </Form>
  );
};

const expiryOf = (days: string | undefined): string | null =>
  days === undefined ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
