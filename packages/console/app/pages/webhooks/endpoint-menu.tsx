import { useState } from "react";
import type { WebhookEndpointData } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts } from "./texts.ts";

type Props = { endpoint: WebhookEndpointData; onDeleted?: () => unknown };

/** The actions of an endpoint, with their dialogs. */
export const EndpointMenu = ({ endpoint, onDeleted }: Props) => {
  const [openDialog, setOpenDialog] = useState<"rename" | "disable" | "remove">();
  const changeEndpoint = useOperationMutation(
    "changeWebhookEndpoint",
    "listWebhookEndpoints",
    "listDeliveries",
  );
  const deleteEndpoint = useOperationMutation("deleteWebhookEndpoint", "listWebhookEndpoints");
  const { enabled, name } = endpoint;
  const path = { id: endpoint.id };
  const close = () => setOpenDialog(undefined);
  return (
    <>
      <ActionMenu
        label={`${texts.actions}: ${name}`}
        items={[
          { label: texts.rename, onAction: () => setOpenDialog("rename") },
          enabled
            ? { label: texts.disable, onAction: () => setOpenDialog("disable") }
            : {
                label: texts.enable,
                onAction: () => changeEndpoint.mutateAsync({ path, body: { enabled: true } }),
              },
          { label: texts.remove, tone: "danger", onAction: () => setOpenDialog("remove") },
        ]}
      />
      {openDialog === "rename" && <RenameDialog endpoint={endpoint} onClose={close} />}
      {openDialog === "disable" && (
        <ConfirmDialog
          title={<Sentence template={texts.disableTitle} name={name} />}
          confirmLabel={texts.disable}
          onConfirm={() => changeEndpoint.mutateAsync({ path, body: { enabled: false } })}
          onClose={close}
        >
          {texts.disableText}
        </ConfirmDialog>
      )}
      {openDialog === "remove" && (
        <ConfirmDialog
          title={<Sentence template={texts.removeTitle} name={name} />}
          confirmLabel={texts.remove}
          onConfirm={async () => {
            await deleteEndpoint.mutateAsync({ path });
            await onDeleted?.();
          }}
          onClose={close}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </>
  );
};

type RenameProps = { endpoint: WebhookEndpointData; onClose: () => void };

const RenameDialog = ({ endpoint: { id, name }, onClose }: RenameProps) => {
  const changeEndpoint = useOperationMutation("changeWebhookEndpoint", "listWebhookEndpoints");
  return (
    <Dialog title={texts.rename} onClose={onClose}>
      <Form
        submitLabel={texts.rename}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={async ({ name: newName = "" }) => {
          await changeEndpoint.mutateAsync({ path: { id }, body: { name: newName } });
          onClose();
        }}
      >
        <Field name="name" label={texts.newName} isRequired maxLength={100} defaultValue={name} />
      </Form>
    </Dialog>
  );
};
