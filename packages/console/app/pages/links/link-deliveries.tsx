import { Link } from "react-router";
import { useCall } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const followMs = 5_000;
const tones = { Pending: "warn", Delivered: "good", Failed: "bad" } as const;

/** What webhook endpoints were told about a link, newest first. */
export const LinkDeliveries = ({ linkId }: { linkId: string }) => {
  const offset = useOffset("deliveries");
  const query = { linkId, offset };
  const deliveries = useCall("listLinkDeliveries", { query }, { everyMs: followMs });
  return (
    <Card title={texts.webhooks}>
      <Loaded query={deliveries}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.noWebhooks}</p>
            ) : (
              <ul className={styles["story"]}>
                {page.data.map((one) => (
                  <li key={one.id}>
                    <span>
                      {one.eventType}{" "}
                      <Badge tone={tones[one.status]}>{texts.deliveryStates[one.status]}</Badge>
                    </span>
                    <span className={styles["quiet"]}>
                      <Link to={`/webhooks/${one.endpointId}`}>
                        <bdi>{one.endpointName}</bdi>
                      </Link>{" "}
                      · {showTime(one.dateCreated)} · {texts.attempts}: {one.attempts}
                    </span>
                  </li>
                ))}
              </ul>
            )}
            <Pager page={page} name="deliveries" />
          </>
        )}
      </Loaded>
    </Card>
  );
};
