/** A consumer's signs of life, compared with its broker's. */
export type ConsumerPulse = {
  /** It fetched, sent a heartbeat, or ended with an error and was replaced. */
  beat: () => void;
  /** The broker answered a request for metadata. */
  brokerAnswered: () => void;
  /** The broker did not answer one. */
  brokerFailed: () => void;
  /** How long there was no sign of it. */
  silentMs: () => number;
  /**
   * Whether it has given no sign for too long while the broker answered for just as long. False
   * while the broker is away, because no restart would help. False as well while the consumer may
   * still come back to a broker that has just returned.
   */
  isStalled: () => boolean;
};

type PulseOptions = {
  /** How long it may be silent; an answer of the broker counts for half of that. */
  silenceMsMax: number;
  /** A clock that never jumps. */
  nowMs?: () => number;
};

/** Begins to watch a consumer that has just given its first sign. */
export const createConsumerPulse = (options: PulseOptions): ConsumerPulse => {
  const { silenceMsMax, nowMs = () => performance.now() } = options;
  const answerMsMax = silenceMsMax / 2;
  let beatAtMs = nowMs();
  let answeringSinceMs = Infinity;
  let answeredAtMs = -Infinity;
  const isAnswering = () => nowMs() - answeredAtMs <= answerMsMax;
  const silentMs = () => nowMs() - beatAtMs;
  return {
    beat: () => {
      beatAtMs = nowMs();
    },
    brokerAnswered: () => {
      if (!isAnswering()) answeringSinceMs = nowMs();
      answeredAtMs = nowMs();
    },
    brokerFailed: () => {
      answeredAtMs = -Infinity;
    },
    silentMs,
    isStalled: () =>
      isAnswering() && Math.min(silentMs(), nowMs() - answeringSinceMs) >= silenceMsMax,
  };
};
