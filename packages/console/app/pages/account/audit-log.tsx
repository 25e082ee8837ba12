import { type FormEvent } from "react";
import { useSearchParams } from "react-router";
import { addressOf } from "../../api/call.ts";
import type { AuditEntry } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Download } from "../../ui/download.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { shorten, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { readDays } from "../../ui/read-days.ts";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.log;

/** What was done to the account, newest first, and as a file. The address names the filter. */
const AuditLog = () => {
  const [search, setSearch] = useSearchParams();
  const offset = useOffset();
  const given = (name: string) => search.get(name) ?? "";
  const action = given("action") || undefined;
  const filter = { action, ...readDays({ from: given("from"), to: given("to") }) };
  const entries = useCall("listAuditLog", { query: { ...filter, offset } });
  const choose = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)];
    setSearch(
      new URLSearchParams(
        fields.flatMap(([name, value]) =>
          typeof value === "string" && value !== "" ? [[name, value]] : [],
        ),
      ),
    );
  };
  return (
    <Card title={texts.title}>
      <form className={styles["filters"]} role="search" onSubmit={choose} key={search.toString()}>
        <Select
          name="action"
          label={texts.action}
          defaultValue={given("action")}
          options={[
            { value: "", text: texts.all },
            ...Object.entries(texts.things).map(([value, text]) => ({ value, text })),
            ...oneAction(action),
          ]}
        />
        <Field
          name="from"
          label={texts.from}
          defaultValue={given("from")}
          input={{ type: "date" }}
        />
        <Field name="to" label={texts.to} defaultValue={given("to")} input={{ type: "date" }} />
        <div className={styles["row"]}>
          <Button type="submit">{texts.filter}</Button>
        </div>
      </form>
      <Loaded query={entries}>
        {(page) => (
          <>
            <EntryTable entries={page.data} />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      <Download
        label={texts.csv}
        address={addressOf("exportAuditLog", { query: { ...filter, format: "csv" } })}
      />
      <div className={styles["row"]}>
        <a href={addressOf("exportAuditLog", { query: { ...filter, format: "jsonl" } })} download>
          {texts.jsonl}
        </a>
      </div>
    </Card>
  );
};
export default AuditLog;

// A service may tell of what this console does not know yet.
const actions: Readonly<Record<string, string>> = texts.actions;
const actors: Readonly<Record<string, string>> = texts.actors;
const methods: Readonly<Record<string, string>> = allTexts.sessions.methods;

/** An address may name an action, not only a kind of thing. */
const oneAction = (action: string | undefined): { value: string; text: string }[] =>
  action === undefined || action in texts.things
    ? []
    : [{ value: action, text: actions[action] ?? action }];

const whoDid = ({ actor, method }: AuditEntry): string => {
  const who = actors[actor.kind] ?? actor.kind;
  return method === null ? who : `${who} · ${methods[method] ?? method}`;
};

const EntryTable = ({ entries }: { entries: readonly AuditEntry[] }) => (
  <Table
    rows={entries}
    none={texts.none}
    columns={[
      [texts.what, ({ action }) => <span title={action}>{actions[action] ?? action}</span>],
      [texts.who, whoDid],
      [
        texts.about,
        ({ targetId }) => targetId !== null && <code title={targetId}>{shorten(targetId)}</code>,
      ],
      [texts.where, ({ address }) => address],
      [texts.when, ({ dateCreated }) => showTime(dateCreated)],
    ]}
  />
);
