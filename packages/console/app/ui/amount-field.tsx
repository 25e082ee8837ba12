import { useContext } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import styles from "./amount-field.module.css";
import { FieldErrorsContext } from "./field-errors.ts";
import uiStyles from "./ui.module.css";

type AmountFieldProps = {
  name: string;
  label: string;
  /** The currency or token of the amount, shown at the end of the field. */
  unit: string;
  value: string;
  onChange: (value: string) => void;
  hint: string;
  errorMessage?: string | undefined;
};

/** A required field for an amount in a given unit. */
export const AmountField = ({
  name,
  label,
  unit,
  value,
  onChange,
  hint,
  errorMessage,
}: AmountFieldProps) => {
  const serviceError = useContext(FieldErrorsContext)[name];
  return (
    <TextField
      className={uiStyles["field"] ?? ""}
      name={name}
      value={value}
      onChange={onChange}
      isInvalid={errorMessage !== undefined}
      isRequired
    >
      <Label className={uiStyles["label"] ?? ""}>{label}</Label>
      <span className={styles["amount"]}>
        <Input className={uiStyles["input"] ?? ""} autoComplete="off" inputMode="decimal" />
        <span className={styles["unit"]} aria-hidden="true">
          {unit}
        </span>
      </span>
      <Text slot="description" className={uiStyles["hint"] ?? ""}>
        {hint}
      </Text>
      <FieldError className={uiStyles["fault"] ?? ""}>{errorMessage}</FieldError>
      {/* It does not make the field invalid, because that would block the next submit. */}
      {serviceError !== undefined && (
        <span className={uiStyles["fault"]} role="alert">
          {serviceError}
        </span>
      )}
    </TextField>
  );
};
