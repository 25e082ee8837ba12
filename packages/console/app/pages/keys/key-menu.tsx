import { useState } from "react";
import type { ApiKeyData } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { texts } from "./texts.ts";

type Props = { apiKey: ApiKeyData; onSecret: (secret: string) => void };

/** The actions of a key, with their dialogs. */
export const KeyMenu = ({ apiKey, onSecret }: Props) => {
  const [openDialog, setOpenDialog] = useState<"limits" | "rotate" | "revoke">();
  const changeApiKey = useOperationMutation("changeApiKey", "listApiKeys");
  const revokeApiKey = useOperationMutation("revokeApiKey", "listApiKeys");
  const { active, name, replacedBy } = apiKey;
  const path = { id: apiKey.id };
  const close = () => setOpenDialog(undefined);
  const rotateItem = { label: texts.rotate, onAction: () => setOpenDialog("rotate") };
  return (
    <>
      <ActionMenu
        label={`${texts.actions}: ${name}`}
        items={[
          { label: texts.editLimits, onAction: () => setOpenDialog("limits") },
          ...(active && replacedBy === null ? [rotateItem] : []),
          {
            label: active ? texts.deactivate : texts.activate,
            onAction: () => changeApiKey.mutateAsync({ path, body: { active: !active } }),
          },
          { label: texts.revoke, tone: "danger", onAction: () => setOpenDialog("revoke") },
        ]}
      />
      {openDialog === "limits" && <LimitsDialog apiKey={apiKey} onClose={close} />}
      {openDialog === "rotate" && (
        <RotateDialog apiKey={apiKey} onSecret={onSecret} onClose={close} />
      )}
      {openDialog === "revoke" && (
        <ConfirmDialog
          title={<Sentence template={texts.revokeTitle} name={name} />}
          confirmLabel={texts.revoke}
          onConfirm={() => revokeApiKey.mutateAsync({ path })}
          onClose={close}
        >
          {texts.revokeText}
        </ConfirmDialog>
      )}
    </>
  );
};
