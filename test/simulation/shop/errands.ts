import { Finding } from "../finding.ts";
import type { Received, Sent } from "../inject-request.ts";
import type { ServiceName } from "../replica.ts";

/** Something that somebody outside wants of a service, again and again until it is answered. */
export type Errand = {
  what: string;
  service: ServiceName;
  isInternal?: boolean;
  underWay: number;
  /** Not tried again before that. */
  notBeforeMs: number;
  send: () => Sent;
  /** Whether the answer ends it. */
  answered: (answer: Received) => boolean;
};

type Wanting = { errands: Errand[] };

/** From now on somebody wants this. */
export const ask = (
  { errands }: Wanting,
  errand: Omit<Errand, "underWay" | "notBeforeMs">,
): void => {
  errands.push({ ...errand, underWay: 0, notBeforeMs: 0 });
};

/** 5xx and a lost answer are tried again; anything else is not as promised. */
export const isUnanswered = (status: number, text: string, what: string): false => {
  if (status < 500) throw new Finding(`${what} is answered ${status} ${text}`);
  return false;
};
