import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { AsyncButton } from "./form.tsx";
import { suppressDoubleClick } from "./double-clicks.ts";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type DialogProps = {
  title: ReactNode;
  children: ReactNode;
  /** Called when the user presses Escape. Without it, Escape does nothing. */
  onClose?: (() => void) | undefined;
};

/** Returns the ref of a `dialog` element that is open while it is mounted. */
export const useModal = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const openedDialog = dialog.current;
    // Closing the dialog before it is removed returns the focus to the previous element.
    return () => openedDialog?.close();
  }, []);
  useEffect(() => {
    dialog.current?.showModal();
    suppressDoubleClick();
    return () => void suppressDoubleClick();
  }, []);
  return dialog;
};

/** A modal dialog, open while it is mounted. The native element traps the focus. */
export const Dialog = ({ title, children, onClose }: DialogProps) => {
  const id = useId();
  const dialog = useModal();
  return (
    <dialog
      ref={dialog}
      className={styles["dialog"]}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div className={styles["stack"]}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};

type ConfirmProps = {
  title: ReactNode;
  children: ReactNode;
  confirmLabel: string;
  /** `primary` is for actions that can be undone. */
  confirmVariant?: "danger" | "primary";
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/**
 * Asks for confirmation before an irreversible action. The cancel button comes first and gets the
 * focus, so that pressing Enter twice does not confirm.
 */
export const ConfirmDialog = ({
  title,
  children,
  confirmLabel,
  confirmVariant = "danger",
  onConfirm,
  onClose,
}: ConfirmProps) => (
  <Dialog title={title} onClose={onClose}>
    <div>{children}</div>
    <div className={styles["row"]}>
      <Button onPress={onClose}>{texts.cancel}</Button>
      <AsyncButton
        variant={confirmVariant}
        onPress={async () => {
          await onConfirm();
          onClose();
        }}
      >
        {confirmLabel}
      </AsyncButton>
    </div>
  </Dialog>
);
