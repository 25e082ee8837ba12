/** A consumer's signs of life, compared with its broker's. */
export type ConsumerLiveness = {
  /** It fetched, sent a heartbeat, or ended with an error and was replaced. */
  recordActivity: () => void;
  /** The broker answered a request for metadata. */
  recordBrokerResponse: () => void;
  /** The broker did not answer one. */
  recordBrokerFailure: () => void;
  /** How long there was no sign of it. */
  getSilentMs: () => number;
  /**
   * Whether it has given no sign for too long while the broker answered for just as long. False
   * while the broker is away, because no restart would help. False as well while the consumer may
   * still come back to a broker that has just returned.
   */
  isStalled: () => boolean;
};

type LivenessOptions = {
  /** How long it may be silent; an answer of the broker counts for half of that. */
  silenceMsMax: number;
  /** A clock that never jumps. */
  getNowMs?: () => number;
};

/** Begins to watch a consumer that has just given its first sign. */
export const createConsumerLiveness = (options: LivenessOptions): ConsumerLiveness => {
  const { silenceMsMax, getNowMs = () => performance.now() } = options;
  const responseAgeMsMax = silenceMsMax / 2;
  let lastActivityAtMs = getNowMs();
  let respondingSinceMs = Infinity;
  let lastResponseAtMs = -Infinity;
  const isBrokerResponding = () => getNowMs() - lastResponseAtMs <= responseAgeMsMax;
  const getSilentMs = () => getNowMs() - lastActivityAtMs;
  return {
    recordActivity: () => {
      lastActivityAtMs = getNowMs();
    },
    recordBrokerResponse: () => {
      if (!isBrokerResponding()) respondingSinceMs = getNowMs();
      lastResponseAtMs = getNowMs();
    },
    recordBrokerFailure: () => {
      lastResponseAtMs = -Infinity;
    },
    getSilentMs,
    isStalled: () =>
      isBrokerResponding() &&
      Math.min(getSilentMs(), getNowMs() - respondingSinceMs) >= silenceMsMax,
  };
};
