import { Link } from "react-router";
import { useOperationQuery } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;
const tones = { Pending: "warn", Delivered: "good", Failed: "bad" } as const;

/** The webhook deliveries of a link, newest first. */
export const LinkDeliveries = ({ linkId }: { linkId: string }) => {
  const offset = useOffset("deliveries");
  const query = { linkId, offset };
  const deliveries = useOperationQuery("listLinkDeliveries", { query }, { refetchIntervalMs });
  return (
    <Card title={texts.webhookDeliveries}>
      <QueryView query={deliveries}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.noWebhookDeliveries}</p>
            ) : (
              <ul className={styles["story"]}>
                {page.data.map((delivery) => (
                  <li key={delivery.id}>
                    <span>
                      {delivery.eventType}{" "}
                      <Badge tone={tones[delivery.status]}>
                        {texts.deliveryStatuses[delivery.status]}
                      </Badge>
                    </span>
                    <span className={styles["quiet"]}>
                      <Link to={`/webhooks/${delivery.endpointId}`}>
                        <bdi>{delivery.endpointName}</bdi>
                      </Link>{" "}
                      · {formatDateTime(delivery.dateCreated)} · {texts.attempts}:{" "}
                      {delivery.attempts}
                    </span>
                  </li>
                ))}
              </ul>
            )}
            <Pager page={page} name="deliveries" />
          </>
        )}
      </QueryView>
    </Card>
  );
};
