import { createHash } from "node:crypto";

/** The default probability of each fault. What remains is the probability of a correct response. */
const defaultFaultMix = {
  /** The connection ends without a response. */
  drop: 0.06,
  /** No response comes. A create stays in progress until the next attempt has arrived. */
  stall: 0.01,
  /** A proxy sends the request to the service twice and returns the second response. */
  repeat: 0.05,
  /** 429 with a `Retry-After` in seconds, as a date, too long, or without one. */
  rateLimit: 0.06,
  /** An internal error of the service. */
  error: 0.06,
  /** A proxy's HTML page, with status 200 or 5xx. */
  html: 0.06,
  /** The response ends in the middle of its body, with or without the end of the connection. */
  halfBody: 0.06,
};

export type FaultKind = keyof typeof defaultFaultMix;
export type FaultMix = Readonly<Record<FaultKind, number>>;

/** What happens to one attempt. */
export type Fault = {
  kind: FaultKind | "none";
  /** Whether the service handles the request although its response gets lost. */
  isHandled: boolean;
  /** A number from 0 to 255 that selects a variant of the fault. */
  variant: number;
};

const faultKinds = Object.keys(defaultFaultMix) as readonly FaultKind[];

/** Parses a mix such as `drop=0.1,stall=0`. Kinds that it does not name keep their default. */
export const parseFaultMix = (text: string): FaultMix => {
  const mix: Record<FaultKind, number> = { ...defaultFaultMix };
  for (const part of text.split(",").filter((part) => part !== "")) {
    const [name = "", probability = ""] = part.split("=");
    const kind = faultKinds.find((kind) => kind === name);
    const value = probability === "" ? Number.NaN : Number(probability);
    if (kind === undefined || !(value >= 0 && value <= 1)) {
      throw new RangeError(`a fault is KIND=PROBABILITY, with KIND one of ${faultKinds.join(" ")}`);
    }
    mix[kind] = value;
  }
  return mix;
};

/**
 * Chooses the fault of one attempt. It depends only on the seed, the call and the number of the
 * attempt, so the order in which parallel calls arrive does not change it.
 */
export const chooseFault = (
  mix: FaultMix,
  { seed, call, attemptNumber }: { seed: number; call: string; attemptNumber: number },
): Fault => {
  const digest = createHash("sha256").update(`${seed} ${attemptNumber} ${call}`).digest();
  const [handledByte = 0, variant = 0] = digest.subarray(4);
  let remaining = digest.readUInt32BE() / 2 ** 32;
  const kind = faultKinds.find((kind) => (remaining -= mix[kind]) < 0) ?? "none";
  return { kind, isHandled: handledByte % 2 === 0, variant };
};
