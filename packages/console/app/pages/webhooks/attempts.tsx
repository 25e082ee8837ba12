import { useState } from "react";
import type { DeliveryData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

type Props = { endpointId: string; delivery: DeliveryData };

/** A button that loads and shows the attempts of a delivery. */
export const AttemptsButton = ({ endpointId, delivery }: Props) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} label={`${texts.attemptDetails}: ${delivery.id}`}>
        {texts.attemptDetails}
      </Button>
      {isOpen && (
        <Dialog title={texts.attemptsTitle(delivery.eventType)} onClose={() => setOpen(false)}>
          <AttemptList endpointId={endpointId} delivery={delivery} />
          <div>
            <Button onPress={() => setOpen(false)}>{uiTexts.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
};

const AttemptList = ({ endpointId, delivery }: Props) => {
  const path = { id: endpointId, deliveryId: delivery.id };
  const deliveryDetail = useOperationQuery("getDelivery", { path });
  return (
    <QueryView query={deliveryDetail}>
      {({ id, attemptLog }) => (
        <>
          <code>{id}</code>
          {attemptLog.length === 0 && <p>{texts.noAttempts}</p>}
          <ol className={styles["story"]}>
            {attemptLog.map(({ number, startedAt, durationMs, httpStatus, error }) => (
              <li key={number}>
                <strong>{texts.attempt(number)}</strong>
                <span>{error ?? httpStatus ?? texts.noValue}</span>
                <span className={styles["quiet"]}>
                  {formatDateTime(startedAt)}
                  {durationMs !== null && ` · ${texts.duration(durationMs)}`}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </QueryView>
  );
};
