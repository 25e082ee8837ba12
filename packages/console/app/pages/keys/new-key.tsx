import { callOperation } from "../../api/call.ts";
import type { createDuplicateGuard } from "../../api/duplicate-guard.ts";
import { useGuardedCreate } from "../../api/use-guarded-create.ts";
import { mode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { LimitFields, parseLimits } from "./limit-fields.tsx";
import { texts } from "./texts.ts";
import { useScopes } from "./use-scopes.tsx";

const dayMs = 86_400_000;

type Props = {
  duplicateGuard: ReturnType<typeof createDuplicateGuard>;
  onSecret: (secret: string) => void;
  onClose: () => void;
};

/** Creates a key and passes its secret to `onSecret`, which shows it once. */
export const NewKeyDialog = ({ duplicateGuard, onSecret, onClose }: Props) => {
  const createOnce = useGuardedCreate(duplicateGuard, "listApiKeys");
  const [scopeFields, readScopes] = useScopes();
  const create = async (fields: Readonly<Record<string, string>>, formData: FormData) => {
    const scopes = readScopes(formData);
    if (scopes === undefined) return;
    const name = fields["name"] ?? "";
    const body = {
      name,
      mode,
      scopes,
      expiresAt: toExpiresAt(fields["expiry"]),
      cidrs: fields["cidrs"]?.split(/[\s,]+/).filter((part) => part !== "") ?? null,
      ...parseLimits(fields),
    };
    const { key } = await createOnce(name, () => callOperation("createApiKey", { body }));
    onSecret(key);
    onClose();
  };
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form
        submitLabel={texts.create}
        onSubmit={create}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
      >
        <Field name="name" label={texts.name} hint={texts.nameHint} isRequired maxLength={100} />
        {scopeFields}
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
          <summary>{texts.moreRestrictions}</summary>
          <div className={styles["form"]}>
            <Field name="cidrs" label={texts.cidrs} hint={texts.cidrsHint} />
            <LimitFields requestsPerMinute={null} burst={null} />
          </div>
        </details>
      </Form>
    </Dialog>
  );
};

const toExpiresAt = (days: string | undefined): string | null =>
  days === undefined ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
