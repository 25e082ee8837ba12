import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Check } from "./field.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** Shows a secret once: the dialog, if one is open, and what opens it for a secret. */
export const useSecret = (title: string): [dialog: ReactNode, show: (secret: string) => void] => {
  // Only here, and only until the person says that they have it.
  const [secret, setSecret] = useState<string>();
  const dialog = secret !== undefined && (
    <SecretDialog title={title} secret={secret} onStored={() => setSecret(undefined)} />
  );
  return [dialog, setSecret];
};

type SecretProps = { title: string; secret: string; onStored: () => void };

const SecretDialog = ({ title, secret, onStored }: SecretProps) => {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={title}>
      <p>{texts.secretOnce}</p>
      <code className={styles["secret"]}>{secret}</code>
      <div className={styles["row"]}>
        <Copy text={secret} />
      </div>
      <Check label={texts.stored} checked={isStored} onTurn={setStored} />
      <div className={styles["row"]}>
        <Button look="primary" isDisabled={!isStored} onPress={onStored}>
          {texts.close}
        </Button>
      </div>
    </Dialog>
  );
};
