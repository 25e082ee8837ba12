import type { DeliveryData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const followMs = 5_000;

const tones: Readonly<Record<DeliveryData["status"], Tone>> = {
  Pending: "warn",
  Delivered: "good",
  Failed: "bad",
};

/** What was sent to an endpoint, newest first; read again while somebody looks at it. */
export const DeliveryLog = ({ endpointId }: { endpointId: string }) => {
  const offset = useOffset();
  const input = { path: { id: endpointId }, query: { offset } };
  const deliveries = useCall("listDeliveries", input, { everyMs: followMs });
  return (
    <Card title={texts.log}>
      <p className={styles["quiet"]}>{texts.logHint}</p>
      <Loaded query={deliveries}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.emptyLog}</p>
            ) : (
              <DeliveryTable deliveries={page.data} />
            )}
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Card>
  );
};

const DeliveryTable = ({ deliveries }: { deliveries: readonly DeliveryData[] }) => (
  <table className={styles["table"]}>
    <thead>
      <tr>
        <th>{texts.event}</th>
        <th>{texts.state}</th>
        <th>{texts.attempts}</th>
        <th>{texts.answer}</th>
        <th>{texts.last}</th>
        <th>{texts.next}</th>
      </tr>
    </thead>
    <tbody>
      {deliveries.map((delivery) => (
        <tr key={delivery.id}>
          <td data-label={texts.event}>{delivery.eventType}</td>
          <td data-label={texts.state}>
            <Badge tone={tones[delivery.status]}>{texts.statuses[delivery.status]}</Badge>
          </td>
          <td data-label={texts.attempts}>{delivery.attempts}</td>
          <td data-label={texts.answer}>{delivery.error ?? delivery.httpStatus ?? texts.dash}</td>
          <td data-label={texts.last}>{timeOf(delivery.lastAttemptAt)}</td>
          <td data-label={texts.next}>{timeOf(delivery.nextAttemptAt)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const timeOf = (instant: string | null): string =>
  instant === null ? texts.dash : showTime(instant);
