import { Link, useSearchParams } from "react-router";
import type { DeliveryData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Select } from "../../ui/field.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
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
            {page.data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.emptyLog}</p>
            ) : (
              <DeliveryTable deliveries={page.data} endpointId={endpointId} />
            )}
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Card>
  );
};

type TableProps = { deliveries: readonly DeliveryData[]; endpointId: string };

const DeliveryTable = ({ deliveries, endpointId }: TableProps) => (
  <table className={styles["table"]}>
    <thead>
      <tr>
        <th>{texts.event}</th>
        <th>{texts.state}</th>
        <th>{texts.attempts}</th>
        <th>{texts.answer}</th>
        <th>{texts.last}</th>
        <th>{texts.next}</th>
        <th>{texts.facts}</th>
      </tr>
    </thead>
    <tbody>
      {deliveries.map((delivery) => (
        <tr key={delivery.id}>
          <td data-label={texts.event}>
            {delivery.eventType}{" "}
            {delivery.linkId !== null && <Link to={`/links/${delivery.linkId}`}>{texts.link}</Link>}
          </td>
          <td data-label={texts.state}>
            <Badge tone={tones[delivery.status]}>{texts.statuses[delivery.status]}</Badge>
          </td>
          <td data-label={texts.attempts}>{delivery.attempts}</td>
          <td data-label={texts.answer}>{delivery.error ?? delivery.httpStatus ?? texts.dash}</td>
          <td data-label={texts.last}>{timeOf(delivery.lastAttemptAt)}</td>
          <td data-label={texts.next}>{timeOf(delivery.nextAttemptAt)}</td>
          <td data-label={texts.facts}>
            <Attempts endpointId={endpointId} delivery={delivery} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const timeOf = (instant: string | null): string =>
  instant === null ? texts.dash : showTime(instant);
