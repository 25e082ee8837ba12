import { Fragment } from "react";

/** An event type, with line break opportunities for narrow columns. */
export const EventType = ({ eventType }: { eventType: string }) =>
  eventType.split(".").map((word, index) => (
    <Fragment key={word}>
      {index > 0 && "."}
      <wbr />
      {word}
    </Fragment>
  ));
