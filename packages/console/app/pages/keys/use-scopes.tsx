import { type ReactNode, useState } from "react";
import { Checkbox } from "../../ui/field.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const scopes = ["payment_link:create", "payment_link:read"] as const;
type Scope = (typeof scopes)[number];

/**
 * Returns the fields that choose a key's scopes, and the function that reads them from a form. If
 * no scope is chosen, it returns undefined and the fields show why.
 */
export const useScopes = (): [
  fields: ReactNode,
  readScopes: (formData: FormData) => Scope[] | undefined,
] => {
  const [hasNoScope, setNoScope] = useState(false);
  const readScopes = (formData: FormData): Scope[] | undefined => {
    const selectedScopes = scopes.filter((scope) => formData.getAll("scope").includes(scope));
    setNoScope(selectedScopes.length === 0);
    return selectedScopes.length === 0 ? undefined : selectedScopes;
  };
  const fields = (
    <fieldset className={styles["field"]}>
      <legend className={styles["label"]}>{texts.scopes}</legend>
      {scopes.map((scope) => (
        <Checkbox
          key={scope}
          name="scope"
          value={scope}
          defaultChecked
          label={texts.scopeNames[scope]}
        />
      ))}
      {hasNoScope && <p className={styles["fault"]}>{texts.noScope}</p>}
    </fieldset>
  );
  return [fields, readScopes];
};
