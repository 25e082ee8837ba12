import { chevronDown } from "@payment-links/design/icons";
import { type ComponentProps, type ReactNode, useContext } from "react";
import {
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  TextField,
  type TextFieldProps,
} from "react-aria-components";
import { FieldErrorsContext } from "./field-errors.ts";
import { Icon } from "./icon.tsx";
import styles from "./ui.module.css";

type FieldProps = Pick<
  TextFieldProps,
  "name" | "defaultValue" | "value" | "onChange" | "isRequired" | "maxLength" | "type"
> & {
  label: string;
  hint?: ReactNode;
  /** The validation error that the page itself detected. */
  errorMessage?: string | undefined;
  inputProps?: ComponentProps<"input">;
  rows?: number;
  /** The currency or token of an amount, shown at the end of the field. */
  unit?: string;
};

/** A labeled text field. */
export const Field = ({
  label,
  hint,
  errorMessage,
  inputProps,
  rows,
  unit,
  ...fieldProps
}: FieldProps) => {
  const serviceError = useContext(FieldErrorsContext)[fieldProps.name ?? ""];
  const input =
    rows === undefined ? (
      <Input className={styles["input"] ?? ""} autoComplete="off" {...(inputProps as object)} />
    ) : (
      <TextArea className={styles["input"] ?? ""} rows={rows} />
    );
  return (
    <TextField
      className={styles["field"] ?? ""}
      isInvalid={errorMessage !== undefined}
      {...fieldProps}
    >
      <Label className={styles["label"] ?? ""}>{label}</Label>
      {unit === undefined ? (
        input
      ) : (
        <span className={styles["withUnit"]}>
          {input}
          <span className={styles["unit"]} aria-hidden="true">
            {unit}
          </span>
        </span>
      )}
      {hint !== undefined && (
        <Text slot="description" className={styles["hint"] ?? ""}>
          {hint}
        </Text>
      )}
      <FieldError className={styles["fault"] ?? ""}>{errorMessage}</FieldError>
      {/* It does not make the field invalid, because that would block the next submit. */}
      {serviceError !== undefined && (
        <span className={styles["fault"]} role="alert">
          {serviceError}
        </span>
      )}
    </TextField>
  );
};

type SelectProps = Pick<ComponentProps<"select">, "name" | "value" | "defaultValue"> & {
  label: string;
  options: readonly { value: string; text: string }[];
  onValueChange?: (value: string) => void;
};

/** A labeled native `select`, which works well on every phone. */
export const Select = ({ label, options, onValueChange, ...selectProps }: SelectProps) => (
  <label className={styles["field"]}>
    <span className={styles["label"]}>{label}</span>
    <span className={styles["select"]}>
      <select
        className={styles["input"]}
        {...selectProps}
        {...(onValueChange === undefined
          ? {}
          : { onChange: (event) => onValueChange(event.target.value) })}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <Icon node={chevronDown} />
    </span>
  </label>
);

type CheckboxProps = Pick<
  ComponentProps<"input">,
  "name" | "value" | "defaultChecked" | "checked"
> & {
  label: ReactNode;
  onCheckedChange?: (isChecked: boolean) => void;
};

/** A labeled checkbox. */
export const Checkbox = ({ label, onCheckedChange, ...inputProps }: CheckboxProps) => (
  <label className={styles["check"]}>
    <input
      type="checkbox"
      {...inputProps}
      {...(onCheckedChange === undefined
        ? {}
        : { onChange: (event) => onCheckedChange(event.target.checked) })}
    />
    <span>{label}</span>
  </label>
);
