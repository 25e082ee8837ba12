/** Compares a consumer's activity with its broker's responses. */
export type ConsumerLiveness = {
  /** Records activity: a fetch, a heartbeat, or an error after which the consumer was replaced. */
  recordActivity: () => void;
  /** Records that the broker answered a metadata request. */
  recordBrokerResponse: () => void;
  /** Records that a metadata request failed. */
  recordBrokerFailure: () => void;
  /** Returns the time since the consumer's last activity. */
  getSilentMs: () => number;
  /**
   * Returns whether the consumer has been silent for too long although the broker responded during
   * all that time. Returns false while the broker is unavailable, because a restart would not help,
   * and after its return while the consumer can still recover.
   */
  isStalled: () => boolean;
};

type LivenessOptions = {
  /** The maximum silence. The broker counts as responding for half that time after a response. */
  silenceMsMax: number;
  /** A monotonic clock. */
  getNowMs?: () => number;
};

/** Creates a tracker for a consumer that is active now. */
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
