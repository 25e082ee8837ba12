import { eye, webhook } from "@payment-links/design/icons";
import { useEffect, useRef } from "react";
import { Link, useSearchParams } from "react-router";
import type { DeliveryData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { changeParams } from "../../ui/change-params.ts";
import { Select } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { DeliveryDetails } from "./delivery-details.tsx";
import { DeliveryStatus } from "./delivery-status.tsx";
import { describeResponse } from "./describe-response.ts";
import { EventType } from "./event-type.tsx";
import { formatExactTime } from "./format-exact-time.ts";
import { texts } from "./texts.ts";
import styles from "./webhooks.module.css";

const refetchIntervalMs = 5_000;

const statuses = ["Pending", "Delivered", "Failed"] as const;
const eventTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
  "payment_link.transaction.unapplied",
] as const;

/**
 * The deliveries to an endpoint, newest first, and the selected one. Refreshes while it is visible.
 * The URL holds the selection and the filter.
 */
export const DeliveryLog = ({ endpointId }: { endpointId: string }) => {
  const offset = useOffset();
  const [searchParams] = useSearchParams();
  const selectedId = searchParams.get("delivery") ?? undefined;
  const status = statuses.find((candidate) => candidate === searchParams.get("status"));
  const eventType = eventTypes.find((candidate) => candidate === searchParams.get("eventType"));
  const isFiltered = status !== undefined || eventType !== undefined;
  const input = { path: { id: endpointId }, query: { offset, status, eventType } };
  const deliveries = useOperationQuery("listDeliveries", input, { refetchIntervalMs });
  const container = useRef<HTMLDivElement>(null);
  useRestoreFocus(container, selectedId);
  return (
    <div className={styles["split"]} ref={container} data-selected={selectedId !== undefined}>
      <Card title={texts.deliveryLog}>
        <DeliveryFilter status={status} eventType={eventType} />
        <QueryView query={deliveries} placeholder={<Skeleton height="20rem" />}>
          {(page) => (
            <>
              {page.data.length === 0 ? (
                <EmptyState icon={webhook} title={texts.emptyDeliveryLogTitle}>
                  {isFiltered ? texts.noMatchingDelivery : texts.emptyDeliveryLog}
                </EmptyState>
              ) : (
                <DeliveryList deliveries={page.data} selectedId={selectedId} />
              )}
              <Pager page={page} />
            </>
          )}
        </QueryView>
      </Card>
      {/* It is also next to an empty log, so that nothing moves when the log arrives. */}
      <div className={styles["detail"]}>
        {selectedId === undefined ? (
          <Card>
            <EmptyState icon={eye} title={texts.noSelectionTitle}>
              {texts.noSelection}
            </EmptyState>
          </Card>
        ) : (
          <DeliveryDetails
            key={selectedId}
            endpointId={endpointId}
            deliveryId={selectedId}
            backTo={{ search: withoutSelection(searchParams) }}
          />
        )}
      </div>
    </div>
  );
};

const withoutSelection = (searchParams: URLSearchParams): string =>
  changeParams(searchParams, { delivery: "" }).toString();

/** Focuses the last selected delivery in the list when the list replaces it. */
const useRestoreFocus = (
  container: { current: HTMLElement | null },
  selectedId: string | undefined,
): void => {
  const lastSelectedId = useRef(selectedId);
  useEffect(() => {
    const previousId = lastSelectedId.current;
    lastSelectedId.current = selectedId;
    if (selectedId !== undefined || previousId === undefined) return;
    container.current
      ?.querySelector<HTMLElement>(`[data-delivery="${CSS.escape(previousId)}"]`)
      ?.focus();
  }, [container, selectedId]);
};

type FilterProps = {
  status: (typeof statuses)[number] | undefined;
  eventType: (typeof eventTypes)[number] | undefined;
};

const DeliveryFilter = ({ status, eventType }: FilterProps) => {
  const [searchParams, setSearchParams] = useSearchParams();
  const applyFilter = (name: string) => (value: string) =>
    setSearchParams(changeParams(searchParams, { offset: "", [name]: value }));
  return (
    <div className={styles["filter"]}>
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
  );
};

type ListProps = { deliveries: readonly DeliveryData[]; selectedId: string | undefined };

const DeliveryList = ({ deliveries, selectedId }: ListProps) => {
  const [searchParams] = useSearchParams();
  const select = (id: string) => ({
    search: changeParams(searchParams, { delivery: id }).toString(),
  });
  return (
    <ol className={styles["list"]} aria-label={texts.deliveryLog}>
      {deliveries.map((delivery) => (
        <li key={delivery.id}>
          <Link
            to={select(delivery.id)}
            data-delivery={delivery.id}
            {...(delivery.id === selectedId ? { "aria-current": true } : {})}
          >
            <span className={styles["entryLine"]}>
              <strong>
                <EventType eventType={delivery.eventType} />
              </strong>
              <DeliveryStatus status={delivery.status} />
            </span>
            <span className={`${styles["entryLine"]} ${styles["meta"]}`}>
              <span>{formatExactTime(delivery.dateCreated)}</span>
              <span>{describeProgress(delivery)}</span>
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
};

/** Describes the last response, and whether another attempt will follow. */
const describeProgress = (delivery: DeliveryData): string | null => {
  const response = describeResponse(delivery);
  return response !== null && delivery.status === "Pending" ? texts.willRetry(response) : response;
};
