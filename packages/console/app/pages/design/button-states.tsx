import { plus, settings } from "@payment-links/design/icons";
import { useState } from "react";
import { Button, ButtonLink, IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";

const variants = ["plain", "primary", "danger", "quiet"] as const;

const doNothing = (): undefined => undefined;

export const ButtonStates = () => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <Card title="Buttons">
      <div className={styles["row"]}>
        {variants.map((variant) => (
          <Button key={variant} variant={variant} icon={plus}>
            {variant}
          </Button>
        ))}
        <ButtonLink to="/links/new">Link</ButtonLink>
        <IconButton icon={settings} label="Settings" onPress={doNothing} />
      </div>
      <div className={styles["row"]}>
        {variants.map((variant) => (
          <Button key={variant} variant={variant} isDisabled>
            {variant}
          </Button>
        ))}
        <Button isBusy>Busy</Button>
      </div>
      <div className={styles["row"]}>
        <CopyButton text="sample" label="Copy link" hasVisibleLabel />
        <span>
          0xa0cf…251e <CopyButton text="0xa0cf" label="Copy address" />
        </span>
        <Button onPress={() => setOpen(true)}>Open dialog</Button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Revoke the key?"
          confirmLabel="Revoke"
          onConfirm={async () => close()}
          onClose={close}
        >
          Requests with this key will fail.
        </ConfirmDialog>
      )}
    </Card>
  );
};
