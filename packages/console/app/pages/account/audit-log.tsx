import { type FormEvent } from "react";
import { useSearchParams } from "react-router";
import { buildOperationUrl } from "../../api/call.ts";
import type { AuditEntry } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { parseDateRange } from "../../ui/parse-date-range.ts";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { TruncatedCode } from "../../ui/truncated-code.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.log;

/** The audit log, newest first, with a CSV download. The URL holds the filter. */
const AuditLog = () => {
  const [searchParams] = useSearchParams();
  const offset = useOffset();
  const filter = {
    action: getParameter(searchParams, "action") || undefined,
    ...parseDateRange({
      from: getParameter(searchParams, "from"),
      to: getParameter(searchParams, "to"),
    }),
  };
  const entries = useOperationQuery("listAuditLog", { query: { ...filter, offset } });
  return (
    <Card title={texts.title}>
      <FilterForm />
      <QueryView query={entries}>
        {(page) => (
          <>
            <EntryTable entries={page.data} />
            <Pager page={page} />
            <DownloadButton
              label={texts.downloadCsv}
              href={buildOperationUrl("exportAuditLog", { query: { ...filter, format: "csv" } })}
            />
            <div className={styles["row"]}>
              <a
                href={buildOperationUrl("exportAuditLog", {
                  query: { ...filter, format: "jsonl" },
                })}
                download
              >
                {texts.downloadJsonLines}
              </a>
            </div>
          </>
        )}
      </QueryView>
    </Card>
  );
};
export default AuditLog;

// A newer service can return values that this console does not know.
const actions: Readonly<Record<string, string>> = texts.actions;
const actors: Readonly<Record<string, string>> = texts.actors;
const methods: Readonly<Record<string, string>> = allTexts.sessions.methods;

const getParameter = (searchParams: URLSearchParams, name: string): string =>
  searchParams.get(name) ?? "";

const FilterForm = () => {
  const [searchParams, setSearchParams] = useSearchParams();
  const applyFilter = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)];
    setSearchParams(
      new URLSearchParams(
        fields.flatMap(([name, value]) =>
          typeof value === "string" && value !== "" ? [[name, value]] : [],
        ),
      ),
    );
  };
  return (
    <form
      className={styles["filters"]}
      role="search"
      onSubmit={applyFilter}
      key={searchParams.toString()}
    >
      <Select
        name="action"
        label={texts.action}
        defaultValue={getParameter(searchParams, "action")}
        options={[
          { value: "", text: texts.all },
          ...Object.entries(texts.resourceTypes).map(([value, text]) => ({ value, text })),
          ...createActionOption(getParameter(searchParams, "action") || undefined),
        ]}
      />
      <Field
        name="from"
        label={texts.from}
        defaultValue={getParameter(searchParams, "from")}
        inputProps={{ type: "date" }}
      />
      <Field
        name="to"
        label={texts.to}
        defaultValue={getParameter(searchParams, "to")}
        inputProps={{ type: "date" }}
      />
      <div className={styles["row"]}>
        <Button type="submit">{texts.applyFilter}</Button>
      </div>
    </form>
  );
};

/** Returns an extra option if the URL filters by a single action instead of a resource type. */
const createActionOption = (action: string | undefined): { value: string; text: string }[] =>
  action === undefined || action in texts.resourceTypes
    ? []
    : [{ value: action, text: actions[action] ?? action }];

const describeActor = ({ actor, method }: AuditEntry): string => {
  const actorText = actors[actor.kind] ?? actor.kind;
  return method === null ? actorText : `${actorText} · ${methods[method] ?? method}`;
};

const EntryTable = ({ entries }: { entries: readonly AuditEntry[] }) => (
  <Table
    rows={entries}
    emptyText={texts.empty}
    columns={[
      [texts.actionColumn, ({ action }) => <span title={action}>{actions[action] ?? action}</span>],
      [texts.actorColumn, describeActor],
      [
        texts.targetColumn,
        ({ targetId }) => targetId !== null && <TruncatedCode text={targetId} />,
      ],
      [texts.addressColumn, ({ address }) => address],
      [texts.timeColumn, ({ dateCreated }) => formatDateTime(dateCreated)],
    ]}
  />
);
