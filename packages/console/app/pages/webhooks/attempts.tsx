import { useState } from "react";
import type { DeliveryData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

type Props = { endpointId: string; delivery: DeliveryData };

/** The facts of each attempt of a delivery, when they are asked for. */
export const Attempts = ({ endpointId, delivery }: Props) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} label={`${texts.facts}: ${delivery.id}`}>
        {texts.facts}
      </Button>
      {isOpen && (
        <Dialog title={texts.factsOf(delivery.eventType)} onClose={() => setOpen(false)}>
          <Facts endpointId={endpointId} delivery={delivery} />
          <div>
            <Button onPress={() => setOpen(false)}>{uiTexts.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
};

const Facts = ({ endpointId, delivery }: Props) => {
  const path = { id: endpointId, deliveryId: delivery.id };
  const detail = useCall("getDelivery", { path });
  return (
    <Loaded query={detail}>
      {({ id, attemptLog }) => (
        <>
          <code>{id}</code>
          {attemptLog.length === 0 && <p>{texts.noAttempt}</p>}
          <ol className={styles["story"]}>
            {attemptLog.map(({ number, startedAt, durationMs, httpStatus, error }) => (
              <li key={number}>
                <strong>{texts.attempt(number)}</strong>
                <span>{error ?? httpStatus ?? texts.dash}</span>
                <span className={styles["quiet"]}>
                  {showTime(startedAt)}
                  {durationMs !== null && ` · ${texts.took(durationMs)}`}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Loaded>
  );
};
