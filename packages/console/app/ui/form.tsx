import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { ErrorNotice } from "./notice.tsx";
import { holdClicks, secondMsMax } from "./second-clicks.ts";
import styles from "./ui.module.css";

type Fields = Readonly<Record<string, string>>;

type FormProps = {
  submit: string;
  children: ReactNode;
  /** Does what the form is for, with what was typed; empty fields are left out. */
  onSubmit: (fields: Fields, all: FormData) => Promise<unknown>;
  /** Empties the form once that is done. */
  isEmptied?: boolean;
  look?: "plain" | "primary";
  cancel?: ReactNode;
  label?: string;
};

/** A form that sends once however often it is clicked, and says where that failed. */
export const Form = ({
  submit,
  children,
  onSubmit,
  isEmptied = false,
  look = "primary",
  cancel,
  label,
}: FormProps) => {
  const { isBusy, fault, act } = useAct();
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    void act(async () => {
      const all = new FormData(form);
      // No form of ours sends files.
      const typed = [...all].filter((entry): entry is [string, string] => entry[1] !== "");
      await onSubmit(Object.fromEntries(typed), all);
      if (isEmptied) form.reset();
    });
  };
  return (
    <form
      className={styles["form"]}
      onSubmit={send}
      {...(label === undefined ? {} : { "aria-label": label })}
    >
      {children}
      {fault}
      <div className={styles["row"]}>
        <Button type="submit" look={look} isBusy={isBusy}>
          {submit}
        </Button>
        {cancel}
      </div>
    </form>
  );
};

/** A button that does one thing once at a time, and says where that failed. */
export const Action = ({
  children,
  look = "plain",
  label,
  onPress,
}: {
  children: ReactNode;
  look?: "plain" | "primary" | "danger";
  label?: string;
  onPress: () => Promise<unknown>;
}) => {
  const { isBusy, fault, act } = useAct();
  return (
    <>
      <Button
        look={look}
        isBusy={isBusy}
        onPress={() => void act(onPress)}
        {...(label === undefined ? {} : { label })}
      >
        {children}
      </Button>
      {fault}
    </>
  );
};

/** Does one thing at a time, and shows how the last one failed. */
const useAct = () => {
  const isUnderWay = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const act = async (what: () => Promise<unknown>): Promise<void> => {
    // A second click may come before the page is drawn again.
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setError(undefined);
    const end = (): void => {
      isUnderWay.current = false;
      setBusy(false);
    };
    const letClick = holdClicks();
    const heldUntil = performance.now() + secondMsMax;
    try {
      await what();
      setTimeout(end, heldUntil - performance.now());
    } catch (thrown) {
      setError(thrown);
      letClick();
      end();
    }
  };
  return { isBusy, act, fault: error !== undefined && <ErrorNotice error={error} /> };
};
