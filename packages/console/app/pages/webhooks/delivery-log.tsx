import { Fragment } from "react";
import { Link, useSearchParams } from "react-router";
import type { DeliveryData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Select } from "../../ui/field.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { AttemptsButton } from "./attempts.tsx";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;

const statuses = ["Pending", "Delivered", "Failed"] as const;
const eventTypes = ["payment_link.transaction.succeeded", "payment_link.completed"] as const;

const tones: Readonly<Record<DeliveryData["status"], Tone>> = {
  Pending: "warn",
  Delivered: "good",
  Failed: "bad",
};

/** The deliveries to an endpoint, newest first. Refreshes while it is visible. */
export const DeliveryLog = ({ endpointId }: { endpointId: string }) => {
  const offset = useOffset();
  const [searchParams, setSearchParams] = useSearchParams();
  const status = statuses.find((candidate) => candidate === searchParams.get("status"));
  const eventType = eventTypes.find((candidate) => candidate === searchParams.get("eventType"));
  const input = { path: { id: endpointId }, query: { offset, status, eventType } };
  const applyFilter = (name: string) => (value: string) => {
    const nextParams = new URLSearchParams(searchParams);
    nextParams.delete("offset");
    if (value === "") nextParams.delete(name);
    else nextParams.set(name, value);
    setSearchParams(nextParams);
  };
  const deliveries = useOperationQuery("listDeliveries", input, {
    refetchIntervalMs,
  });
  return (
    <Card title={texts.deliveryLog}>
      <p className={styles["quiet"]}>{texts.deliveryLogHint}</p>
      <div className={styles["filters"]}>
        <Select
          label={texts.state}
          value={status ?? ""}
          onValueChange={applyFilter("status")}
          options={[
            { value: "", text: texts.all },
            ...statuses.map((value) => ({ value, text: texts.statuses[value] })),
          ]}
        />
        <Select
          label={texts.event}
          value={eventType ?? ""}
          onValueChange={applyFilter("eventType")}
          options={[
            { value: "", text: texts.all },
            ...eventTypes.map((value) => ({ value, text: value })),
          ]}
        />
      </div>
      <QueryView query={deliveries}>
        {(page) => (
          <>
            <DeliveryTable deliveries={page.data} endpointId={endpointId} />
            <Pager page={page} />
          </>
        )}
      </QueryView>
    </Card>
  );
};

type TableProps = { deliveries: readonly DeliveryData[]; endpointId: string };

const DeliveryTable = ({ deliveries, endpointId }: TableProps) => (
  <Table
    rows={deliveries}
    emptyText={texts.emptyDeliveryLog}
    columns={[
      [texts.event, (delivery) => <DeliveryEvent delivery={delivery} />],
      [texts.state, ({ status }) => <Badge tone={tones[status]}>{texts.statuses[status]}</Badge>],
      [texts.attempts, ({ attempts }) => attempts],
      [texts.response, ({ error, httpStatus }) => error ?? httpStatus ?? texts.noValue],
      [texts.lastAttempt, ({ lastAttemptAt }) => formatOptionalTime(lastAttemptAt)],
      [texts.nextAttempt, ({ nextAttemptAt }) => formatOptionalTime(nextAttemptAt)],
      [
        texts.attemptDetails,
        (delivery) => <AttemptsButton endpointId={endpointId} delivery={delivery} />,
      ],
    ]}
  />
);

/** The event type, with line break opportunities for narrow columns. */
const DeliveryEvent = ({ delivery: { eventType, linkId } }: { delivery: DeliveryData }) => (
  <>
    {eventType.split(".").map((word, index) => (
      <Fragment key={word}>
        {index > 0 && "."}
        <wbr />
        {word}
      </Fragment>
    ))}{" "}
    {linkId !== null && <Link to={`/links/${linkId}`}>{texts.paymentLink}</Link>}
  </>
);

const formatOptionalTime = (instant: string | null): string =>
  instant === null ? texts.noValue : formatDateTime(instant);
