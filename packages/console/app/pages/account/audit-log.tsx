import { type FormEvent } from "react";
import { useSearchParams } from "react-router";
import { addressOf } from "../../api/call.ts";
import type { AuditEntry } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { shorten, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.log;

/** What was done to the account, newest first, and as a file. The address names the filter. */
const AuditLog = () => {
  const [search, setSearch] = useSearchParams();
  const offset = useOffset();
  const wanted = (name: string) => search.get(name) ?? undefined;
  const filter = { action: wanted("action"), from: wanted("from"), to: wanted("to") };
  const entries = useCall("listAuditLog", { query: { ...filter, offset } });
  const choose = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)];
    setSearch(
      new URLSearchParams(
        fields.flatMap(([name, value]) =>
          typeof value === "string" && value !== "" ? [[name, readField(name, value)]] : [],
        ),
      ),
    );
  };
  return (
    <Card title={texts.title}>
      <form className={styles["row"]} onSubmit={choose}>
        <Field
          name="action"
          label={texts.action}
          hint={texts.actionHint}
          defaultValue={filter.action ?? ""}
        />
        <Field name="from" label={texts.from} input={{ type: "date" }} />
        <Field name="to" label={texts.to} input={{ type: "date" }} />
        <Button type="submit">{texts.filter}</Button>
      </form>
      <Loaded query={entries}>
        {(page) => (
          <>
            <EntryTable entries={page.data} />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      <div className={styles["row"]}>
        <a href={addressOf("exportAuditLog", { query: { ...filter, format: "csv" } })} download>
          {texts.csv}
        </a>
        <a href={addressOf("exportAuditLog", { query: { ...filter, format: "jsonl" } })} download>
          {texts.jsonl}
        </a>
      </div>
    </Card>
  );
};
export default AuditLog;

/** A day begins at midnight of the person. */
const readField = (name: string, value: string): string =>
  name === "action" ? value.trim() : new Date(`${value}T00:00`).toISOString();

const EntryTable = ({ entries }: { entries: readonly AuditEntry[] }) => (
  <Table
    rows={entries}
    none={texts.none}
    columns={[
      [texts.what, ({ action }) => action],
      [texts.who, ({ actor, method }) => `${actor.kind} ${method ?? ""}`],
      [
        texts.about,
        ({ targetId }) => targetId !== null && <code title={targetId}>{shorten(targetId)}</code>,
      ],
      [texts.where, ({ address }) => address],
      [texts.when, ({ dateCreated }) => showTime(dateCreated)],
    ]}
  />
);
