import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { Checkbox } from "./field.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** Returns a dialog that shows a secret once, and the function that opens it. */
export const useSecretDialog = (
  title: string,
): [dialog: ReactNode, show: (secret: string) => void] => {
  // The secret is stored only here, and only until the user confirms that they have saved it.
  const [secret, setSecret] = useState<string>();
  const dialog = secret !== undefined && (
    <SecretDialog title={title} secret={secret} onStored={() => setSecret(undefined)} />
  );
  return [dialog, setSecret];
};

type SecretDialogProps = { title: string; secret: string; onStored: () => void };

const SecretDialog = ({ title, secret, onStored }: SecretDialogProps) => {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={title}>
      <p>{texts.secretShownOnce}</p>
      <code className={styles["secret"]}>{secret}</code>
      <div className={styles["row"]}>
        <CopyButton text={secret} hasVisibleLabel />
      </div>
      <Checkbox
        label={texts.secretStoredConfirmation}
        checked={isStored}
        onCheckedChange={setStored}
      />
      <div className={styles["row"]}>
        <Button variant="primary" isDisabled={!isStored} onPress={onStored}>
          {texts.close}
        </Button>
      </div>
    </Dialog>
  );
};
