import { callOperation } from "../../api/call.ts";
import type { createDuplicateGuard } from "../../api/duplicate-guard.ts";
import { useGuardedCreate } from "../../api/use-guarded-create.ts";
import { mode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts } from "./texts.ts";

type Props = {
  duplicateGuard: ReturnType<typeof createDuplicateGuard>;
  onSecret: (secret: string) => void;
  onClose: () => void;
};

/** Creates an endpoint and passes its secret to `onSecret`, which shows it once. */
export const NewEndpointDialog = ({ duplicateGuard, onSecret, onClose }: Props) => {
  const createOnce = useGuardedCreate(duplicateGuard, "listWebhookEndpoints");
  const create = async ({ url = "", name = "" }): Promise<void> => {
    const { secret } = await createOnce(name, () =>
      callOperation("createWebhookEndpoint", { body: { url, name, mode } }),
    );
    onSecret(secret);
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
        <Field
          name="url"
          label={texts.url}
          hint={texts.urlHint}
          isRequired
          inputProps={{ placeholder: "https://", inputMode: "url", spellCheck: false }}
        />
      </Form>
    </Dialog>
  );
};
