import { Fragment } from "react";
import { Link, useSearchParams } from "react-router";
import type { DeliveryData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Select } from "../../ui/field.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { Attempts } from "./attempts.tsx";
import { texts } from "./texts.ts";

const followMs = 5_000;

const statuses = ["Pending", "Delivered", "Failed"] as const;
const eventTypes = ["payment_link.transaction.succeeded", "payment_link.completed"] as const;

const tones: Readonly<Record<DeliveryData["status"], Tone>> = {
  Pending: "warn",
  Delivered: "good",
  Failed: "bad",
};

/** What was sent to an endpoint, newest first; read again while somebody looks at it. */
export const DeliveryLog = ({ endpointId }: { endpointId: string }) => {
  const offset = useOffset();
  const [search, setSearch] = useSearchParams();
  const status = statuses.find((known) => known === search.get("status"));
  const eventType = eventTypes.find((known) => known === search.get("eventType"));
  const input = { path: { id: endpointId }, query: { offset, status, eventType } };
  const choose = (name: string) => (value: string) => {
    const next = new URLSearchParams(search);
    next.delete("offset");
    if (value === "") next.delete(name);
    else next.set(name, value);
    setSearch(next);
  };
  const deliveries = useCall("listDeliveries", input, { everyMs: followMs });
  return (
    <Card title={texts.log}>
      <p className={styles["quiet"]}>{texts.logHint}</p>
      <div className={styles["filters"]}>
        <Select
          label={texts.state}
          value={status ?? ""}
          onPick={choose("status")}
          options={[
            { value: "", text: texts.all },
            ...statuses.map((value) => ({ value, text: texts.statuses[value] })),
          ]}
        />
        <Select
          label={texts.event}
          value={eventType ?? ""}
          onPick={choose("eventType")}
          options={[
            { value: "", text: texts.all },
            ...eventTypes.map((value) => ({ value, text: value })),
          ]}
        />
      </div>
      <Loaded query={deliveries}>
        {(page) => (
          <>
            <DeliveryTable deliveries={page.data} endpointId={endpointId} />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Card>
  );
};

type TableProps = { deliveries: readonly DeliveryData[]; endpointId: string };

const DeliveryTable = ({ deliveries, endpointId }: TableProps) => (
  <Table
    rows={deliveries}
    none={texts.emptyLog}
    columns={[
      [texts.event, (delivery) => <Event delivery={delivery} />],
      [texts.state, ({ status }) => <Badge tone={tones[status]}>{texts.statuses[status]}</Badge>],
      [texts.attempts, ({ attempts }) => attempts],
      [texts.answer, ({ error, httpStatus }) => error ?? httpStatus ?? texts.dash],
      [texts.last, ({ lastAttemptAt }) => timeOf(lastAttemptAt)],
      [texts.next, ({ nextAttemptAt }) => timeOf(nextAttemptAt)],
      [texts.facts, (delivery) => <Attempts endpointId={endpointId} delivery={delivery} />],
    ]}
  />
);

/** A narrow column breaks its name between the words. */
const Event = ({ delivery: { eventType, linkId } }: { delivery: DeliveryData }) => (
  <>
    {eventType.split(".").map((word, index) => (
      <Fragment key={word}>
        {index > 0 && "."}
        <wbr />
        {word}
      </Fragment>
    ))}{" "}
    {linkId !== null && <Link to={`/links/${linkId}`}>{texts.link}</Link>}
  </>
);

const timeOf = (instant: string | null): string =>
  instant === null ? texts.dash : showTime(instant);
