import type { IconNode } from "@payment-links/design/icons";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { Button, type ButtonVariant } from "./button.tsx";
import { FieldErrorsContext, findFieldErrors, noFieldErrors } from "./field-errors.ts";
import { ErrorNotice } from "./notice.tsx";
import { suppressDoubleClick, doubleClickMsMax } from "./double-clicks.ts";
import styles from "./ui.module.css";

type Fields = Readonly<Record<string, string>>;

type FormProps = {
  submitLabel: string;
  children: ReactNode;
  /** Submits the form with its fields. Empty fields and files are omitted. */
  onSubmit: (fields: Fields, formData: FormData) => Promise<unknown>;
  /** Whether to reset the form after success. */
  resetsOnSuccess?: boolean;
  variant?: ButtonVariant;
  cancelButton?: ReactNode;
  label?: string;
};

/**
 * A form that ignores more clicks while it submits. If the submit fails, it shows the error at its
 * field, or above the button if it has no field.
 */
export const Form = ({
  submitLabel,
  children,
  onSubmit,
  resetsOnSuccess = false,
  variant = "primary",
  cancelButton,
  label,
}: FormProps) => {
  const { isBusy, errorNotice, run } = useSingleAction();
  const [fieldErrors, setFieldErrors] = useState(noFieldErrors);
  const handleSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    void run(async () => {
      const formData = new FormData(form);
      const filledEntries = [...formData].filter(
        (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "",
      );
      setFieldErrors(noFieldErrors);
      try {
        await onSubmit(Object.fromEntries(filledEntries), formData);
      } catch (error) {
        const errors = findFieldErrors(error, form);
        if (errors === undefined) throw error;
        return setFieldErrors(errors);
      }
      if (resetsOnSuccess) form.reset();
    });
  };
  return (
    <form
      className={styles["form"]}
      onSubmit={handleSubmit}
      {...(label === undefined ? {} : { "aria-label": label })}
    >
      <FieldErrorsContext value={fieldErrors}>{children}</FieldErrorsContext>
      {errorNotice}
      <div className={styles["row"]}>
        {cancelButton}
        <Button type="submit" variant={variant} isBusy={isBusy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
};

/** A button that runs one action at a time, and shows the error if it fails. */
export const AsyncButton = ({
  children,
  variant = "plain",
  icon,
  label,
  onPress,
}: {
  children: ReactNode;
  variant?: ButtonVariant;
  icon?: IconNode;
  label?: string;
  onPress: () => Promise<unknown>;
}) => {
  const { isBusy, errorNotice, run } = useSingleAction();
  return (
    <>
      <Button
        variant={variant}
        isBusy={isBusy}
        onPress={() => void run(onPress)}
        {...(icon === undefined ? {} : { icon })}
        {...(label === undefined ? {} : { label })}
      >
        {children}
      </Button>
      {errorNotice}
    </>
  );
};

/** Runs one action at a time and shows the error of the last one. */
const useSingleAction = () => {
  const isRunning = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (action: () => Promise<unknown>): Promise<void> => {
    // A second click can arrive before React renders again.
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setError(undefined);
    const finish = (): void => {
      isRunning.current = false;
      setBusy(false);
    };
    const allowNextClick = suppressDoubleClick();
    const suppressedUntilMs = performance.now() + doubleClickMsMax;
    try {
      await action();
      setTimeout(finish, suppressedUntilMs - performance.now());
    } catch (thrown) {
      setError(thrown);
      allowNextClick();
      finish();
    }
  };
  return { isBusy, run, errorNotice: error !== undefined && <ErrorNotice error={error} /> };
};
