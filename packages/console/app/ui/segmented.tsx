import { useId } from "react";
import styles from "./ui.module.css";

type SegmentedProps<Value extends string> = {
  /** The name of the group for screen readers. */
  label: string;
  options: readonly { value: Value; text: string }[];
  value: Value;
  onValueChange: (value: Value) => void;
};

/** A choice between a few options that fit into one line. The native radio buttons have arrow keys. */
export const Segmented = <Value extends string>({
  label,
  options,
  value: selectedValue,
  onValueChange,
}: SegmentedProps<Value>) => {
  const name = useId();
  return (
    <fieldset className={styles["segmented"]}>
      <legend className={styles["hidden"]}>{label}</legend>
      {options.map(({ value, text }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === selectedValue}
            onChange={() => onValueChange(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
};
