import type { FormEvent } from "react";
import { useSearchParams } from "react-router";
import { useOperationQuery } from "../../api/query.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** The filter form of the links list. The URL holds the filter. */
export const LinkFilterForm = () => {
  const [searchParams, setSearchParams] = useSearchParams();
  const tokens = useOperationQuery("listTokens", {});
  const applyFilter = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const filledEntries = [...new FormData(event.currentTarget)].filter(
      (entry): entry is [string, string] => entry[1] !== "",
    );
    setSearchParams(new URLSearchParams(filledEntries));
  };
  const getParameter = (name: string) => searchParams.get(name) ?? "";
  return (
    // The key resets the fields when the URL changes, for example after Back.
    <form
      className={styles["filters"]}
      role="search"
      onSubmit={applyFilter}
      key={searchParams.toString()}
    >
      <Field
        name="q"
        label={texts.search}
        hint={texts.searchHint}
        defaultValue={getParameter("q")}
      />
      <Select
        name="status"
        label={texts.status}
        defaultValue={getParameter("status")}
        options={[
          { value: "", text: texts.all },
          ...Object.entries(texts.statuses).map(([value, text]) => ({ value, text })),
        ]}
      />
      <Select
        key={tokens.data === undefined ? "none" : "all"}
        name="token"
        label={texts.token}
        defaultValue={getParameter("token")}
        options={[
          { value: "", text: texts.all },
          ...(tokens.data?.data ?? []).map(({ id, token }) => ({
            value: id,
            text: `${token.symbol} · ${token.chain.name}`,
          })),
        ]}
      />
      <Field
        name="from"
        label={texts.createdFrom}
        defaultValue={getParameter("from")}
        inputProps={{ type: "date" }}
      />
      <Field
        name="to"
        label={texts.createdUntil}
        defaultValue={getParameter("to")}
        inputProps={{ type: "date" }}
      />
      <div className={styles["row"]}>
        <Button type="submit">{texts.applyFilter}</Button>
        {searchParams.size > 0 && <ButtonLink to="/links">{texts.clearFilter}</ButtonLink>}
      </div>
    </form>
  );
};
