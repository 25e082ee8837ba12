import { ellipsis } from "@payment-links/design/icons";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import { ErrorNotice } from "./notice.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type ActionMenuProps = {
  /** The accessible name, such as `Actions for key till`. */
  label: string;
  items: readonly MenuItem[];
};

/** The ⋯ button with the less common actions of an item. Shows the error if an action fails. */
export const ActionMenu = ({ label, items }: ActionMenuProps) => {
  const [failure, setFailure] = useState<{ title: string; error: unknown }>();
  const close = (): void => setFailure(undefined);
  const run = async (title: string, action: () => unknown): Promise<void> => {
    try {
      await action();
    } catch (error) {
      setFailure({ title, error });
    }
  };
  return (
    <>
      <Menu
        label={label}
        trigger={<Icon node={ellipsis} />}
        triggerClassName={styles["iconButton"]}
        items={items}
        onAction={(item, action) => void run(item.label, action)}
      />
      {failure !== undefined && (
        <Dialog title={failure.title} onClose={close}>
          <ErrorNotice error={failure.error} />
          <div className={styles["row"]}>
            <Button onPress={close}>{texts.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
};
