import type { ApiKeyData } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { LimitFields, parseLimits } from "./limit-fields.tsx";
import { texts } from "./texts.ts";

/** Changes a key's rate limit. */
export const LimitsDialog = ({ apiKey, onClose }: { apiKey: ApiKeyData; onClose: () => void }) => {
  const changeApiKey = useOperationMutation("changeApiKey", "listApiKeys");
  return (
    <Dialog
      title={<Sentence template={texts.editLimitsTitle} name={apiKey.name} />}
      onClose={onClose}
    >
      <Form
        submitLabel={texts.save}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={async (fields) => {
          await changeApiKey.mutateAsync({ path: { id: apiKey.id }, body: parseLimits(fields) });
          onClose();
        }}
      >
        <LimitFields {...apiKey} />
      </Form>
    </Dialog>
  );
};
