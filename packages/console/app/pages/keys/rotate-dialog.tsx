import { callOperation } from "../../api/call.ts";
import { useQueryClient } from "@tanstack/react-query";
import type { ApiKeyData } from "../../api/operations.ts";
import { invalidateOperations } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts } from "./texts.ts";

const defaultOverlapSeconds = "86400";

/** Replaces a key with a new one. The old key stays valid for the chosen overlap. */
export const RotateDialog = ({
  apiKey,
  onSecret,
  onClose,
}: {
  apiKey: ApiKeyData;
  onSecret: (secret: string) => void;
  onClose: () => void;
}) => {
  const client = useQueryClient();
  return (
    <Dialog title={<Sentence template={texts.rotateTitle} name={apiKey.name} />} onClose={onClose}>
      <p>{texts.rotateText}</p>
      <Form
        submitLabel={texts.rotate}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={async ({ overlapSeconds = defaultOverlapSeconds }) => {
          const body = { overlapSeconds: Number(overlapSeconds) };
          const { key } = await callOperation("rotateApiKey", { path: { id: apiKey.id }, body });
          onSecret(key);
          onClose();
          await invalidateOperations(client, ["listApiKeys"]);
        }}
      >
        <Select
          name="overlapSeconds"
          label={texts.overlap}
          defaultValue={defaultOverlapSeconds}
          options={Object.entries(texts.overlaps).map(([value, text]) => ({ value, text }))}
        />
      </Form>
    </Dialog>
  );
};
