import type { FormEvent } from "react";
import { useSearchParams } from "react-router";
import { useCall } from "../../api/query.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** The form that chooses links. What was chosen stands in the address. */
export const LinkFilterForm = () => {
  const [search, setSearch] = useSearchParams();
  const tokens = useCall("listTokens", {});
  const choose = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const typed = [...new FormData(event.currentTarget)].filter(
      (entry): entry is [string, string] => entry[1] !== "",
    );
    setSearch(new URLSearchParams(typed));
  };
  const given = (name: string) => search.get(name) ?? "";
  return (
    // The form is another one for another address, as after Back.
    <form className={styles["filters"]} role="search" onSubmit={choose} key={search.toString()}>
      <Field name="q" label={texts.search} hint={texts.searchHint} defaultValue={given("q")} />
      <Select
        name="status"
        label={texts.status}
        defaultValue={given("status")}
        options={[
          { value: "", text: texts.all },
          ...Object.entries(texts.statuses).map(([value, text]) => ({ value, text })),
        ]}
      />
      <Select
        key={tokens.data === undefined ? "none" : "all"}
        name="token"
        label={texts.token}
        defaultValue={given("token")}
        options={[
          { value: "", text: texts.all },
          ...(tokens.data?.data ?? []).map(({ id, token }) => ({
            value: id,
            text: `${token.symbol} · ${token.chain.name}`,
          })),
        ]}
      />
      <Field name="from" label={texts.from} defaultValue={given("from")} input={{ type: "date" }} />
      <Field name="to" label={texts.to} defaultValue={given("to")} input={{ type: "date" }} />
      <div className={styles["row"]}>
        <Button type="submit">{texts.find}</Button>
        {search.size > 0 && <ButtonLink to="/links">{texts.clear}</ButtonLink>}
      </div>
    </form>
  );
};
