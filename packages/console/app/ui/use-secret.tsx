import { useState } from "react";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Check } from "./field.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** Shows a secret once. It goes only when the person says that they have it. */
export const SecretDialog = ({
  title,
  secret,
  onStored,
}: {
  title: string;
  secret: string;
  onStored: () => void;
}) => {
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
