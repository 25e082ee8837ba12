import type { ApiKeyData } from "../../api/operations.ts";
import { useChange } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { LimitFields, readLimits } from "./limit-fields.tsx";
import { texts } from "./texts.ts";

/** Changes a key's own limit. */
export const LimitsDialog = ({ apiKey, onClose }: { apiKey: ApiKeyData; onClose: () => void }) => {
  const change = useChange("changeApiKey", "listApiKeys");
  return (
    <Dialog title={<Sentence words={texts.changeTitle} name={apiKey.name} />} onClose={onClose}>
      <Form
        submit={texts.save}
        cancel={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={async (fields) => {
          await change.mutateAsync({ path: { id: apiKey.id }, body: readLimits(fields) });
          onClose();
        }}
      >
        <LimitFields {...apiKey} />
      </Form>
    </Dialog>
  );
};
