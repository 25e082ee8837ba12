import type { ComponentProps, ReactNode } from "react";
import {
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  TextField,
  type TextFieldProps,
} from "react-aria-components";
import styles from "./ui.module.css";

type FieldProps = Pick<
  TextFieldProps,
  "name" | "defaultValue" | "value" | "onChange" | "isRequired" | "maxLength" | "type"
> & {
  label: string;
  hint?: ReactNode;
  /** What is wrong with it, as far as the page can tell. */
  fault?: string | undefined;
  input?: ComponentProps<"input">;
  rows?: number;
};

/** A labelled field to type into. */
export const Field = ({ label, hint, fault, input, rows, ...field }: FieldProps) => (
  <TextField className={styles["field"] ?? ""} isInvalid={fault !== undefined} {...field}>
    <Label className={styles["label"] ?? ""}>{label}</Label>
    {rows === undefined ? (
      <Input className={styles["input"] ?? ""} autoComplete="off" {...(input as object)} />
    ) : (
      <TextArea className={styles["input"] ?? ""} rows={rows} />
    )}
    {hint !== undefined && (
      <Text slot="description" className={`${styles["small"]} ${styles["quiet"]}`}>
        {hint}
      </Text>
    )}
    <FieldError className={styles["fault"] ?? ""}>{fault}</FieldError>
  </TextField>
);

type SelectProps = Pick<ComponentProps<"select">, "name" | "value" | "defaultValue"> & {
  label: string;
  options: readonly { value: string; text: string }[];
  onPick?: (value: string) => void;
};

/** A labelled choice: the browser's own, which every phone knows how to show. */
export const Select = ({ label, options, onPick, ...select }: SelectProps) => (
  <label className={styles["field"]}>
    <span className={styles["label"]}>{label}</span>
    <select
      className={styles["input"]}
      {...select}
      {...(onPick === undefined ? {} : { onChange: (event) => onPick(event.target.value) })}
    >
      {options.map(({ value, text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

type CheckProps = Pick<ComponentProps<"input">, "name" | "value" | "defaultChecked" | "checked"> & {
  label: ReactNode;
  onTurn?: (isOn: boolean) => void;
};

/** A labelled box to tick. */
export const Check = ({ label, onTurn, ...input }: CheckProps) => (
  <label className={styles["check"]}>
    <input
      type="checkbox"
      {...input}
      {...(onTurn === undefined ? {} : { onChange: (event) => onTurn(event.target.checked) })}
    />
    <span>{label}</span>
  </label>
);
