import { chevronLeft } from "@payment-links/design/icons";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { DeliveryDetail, DeliveryRequest } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Card } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import uiStyles from "../../ui/ui.module.css";
import { DeliveryStatus } from "./delivery-status.tsx";
import { describeResponse } from "./describe-response.ts";
import { EventType } from "./event-type.tsx";
import { formatExactTime } from "./format-exact-time.ts";
import { formatJson } from "./format-json.ts";
import { texts } from "./texts.ts";
import styles from "./webhooks.module.css";

const refetchIntervalMs = 5_000;

type Props = { endpointId: string; deliveryId: string; backTo: { search: string } };

/** One delivery: the request as it was sent, the response's status, and all attempts. */
export const DeliveryDetails = ({ endpointId, deliveryId, backTo }: Props) => {
  const path = { id: endpointId, deliveryId };
  const delivery = useOperationQuery("getDelivery", { path }, { refetchIntervalMs });
  return (
    <Card>
      <Link className={styles["back"]} to={backTo}>
        <Icon node={chevronLeft} />
        {texts.backToLog}
      </Link>
      <QueryView query={delivery} placeholder={<Skeleton height="30rem" />}>
        {(data) => (
          <>
            <DetailsHeading delivery={data} />
            <DeliveryFacts delivery={data} />
            <section className={styles["section"]}>
              <h3>{texts.request}</h3>
              {data.request === null ? (
                <p className={uiStyles["quiet"]}>{texts.noRequest}</p>
              ) : (
                <Request request={data.request} />
              )}
            </section>
            <Response delivery={data} />
            <Attempts delivery={data} />
          </>
        )}
      </QueryView>
    </Card>
  );
};

type DetailProps = { delivery: DeliveryDetail };

/** Gets the focus where the list is hidden, so that the keyboard continues here. */
const DetailsHeading = ({ delivery: { eventType, status } }: DetailProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const list = heading.current?.closest(`.${styles["split"]}`)?.firstElementChild;
    if (list instanceof HTMLElement && list.offsetParent === null) heading.current?.focus();
  }, []);
  return (
    <div className={`${uiStyles["row"]} ${uiStyles["spread"]}`}>
      <h2 ref={heading} tabIndex={-1}>
        <EventType eventType={eventType} />
      </h2>
      <DeliveryStatus status={status} />
    </div>
  );
};

const DeliveryFacts = ({ delivery }: DetailProps) => {
  const { id, dateCreated, linkId, nextAttemptAt } = delivery;
  return (
    <dl className={uiStyles["facts"]}>
      <dt>{texts.id}</dt>
      <dd>
        <Copyable text={id} copyLabel={texts.copyId}>
          <code>{id}</code>
        </Copyable>
      </dd>
      <dt>{texts.created}</dt>
      <dd>{formatExactTime(dateCreated)}</dd>
      {nextAttemptAt !== null && (
        <>
          <dt>{texts.nextAttempt}</dt>
          <dd>{formatExactTime(nextAttemptAt)}</dd>
        </>
      )}
      {linkId !== null && (
        <>
          <dt>{texts.paymentLink}</dt>
          <dd>
            <Link to={`/links/${linkId}`}>{linkId}</Link>
          </dd>
        </>
      )}
    </dl>
  );
};

const Request = ({ request: { url, headers, body } }: { request: DeliveryRequest }) => {
  const [view, setView] = useState<"formatted" | "raw">("formatted");
  return (
    <>
      <p className={styles["url"]}>
        <Copyable text={url} copyLabel={texts.copyUrl}>
          <span>
            POST <bdi>{url}</bdi>
          </span>
        </Copyable>
      </p>
      <dl className={styles["headers"]}>
        {headers.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <CodeBlock
        label={texts.body}
        header={
          <Segmented
            label={texts.body}
            value={view}
            onValueChange={setView}
            options={[
              { value: "formatted", text: texts.formatted },
              { value: "raw", text: texts.raw },
            ]}
          />
        }
        code={view === "raw" ? body : formatJson(body)}
        copiedText={body}
        copyLabel={texts.copyBody}
        isWrapped
      />
    </>
  );
};

const Response = ({ delivery }: DetailProps) => {
  const response = describeResponse(delivery);
  return (
    <section className={styles["section"]}>
      <h3>{texts.response}</h3>
      {response === null ? (
        <p className={uiStyles["quiet"]}>{texts.noResponse}</p>
      ) : (
        <>
          <div className={uiStyles["row"]}>
            <Badge tone={delivery.error === null ? "good" : "bad"}>{response}</Badge>
          </div>
          <p className={uiStyles["quiet"]}>{texts.responseNotStored}</p>
        </>
      )}
    </section>
  );
};

const Attempts = ({ delivery: { attemptLog } }: DetailProps) => (
  <section className={styles["section"]}>
    <h3>{texts.attempts}</h3>
    <Table
      rows={attemptLog.map((attempt) => ({ ...attempt, id: String(attempt.number) }))}
      emptyText={texts.noAttempts}
      columns={[
        [texts.attempt, ({ number }) => number],
        [texts.response, (attempt) => describeResponse(attempt)],
        [texts.startedAt, ({ startedAt }) => formatExactTime(startedAt), "date"],
        [
          texts.duration,
          ({ durationMs }) =>
            durationMs === null ? texts.noValue : texts.milliseconds(durationMs),
          "numeric",
        ],
      ]}
    />
  </section>
);
