export type CallOptions = {
  /**
   * Aborts the call with the signal's reason, even while it waits between attempts. An aborted
   * create may have succeeded. To repeat it safely, pass your own idempotency key.
   */
  signal?: AbortSignal | null | undefined;
};
