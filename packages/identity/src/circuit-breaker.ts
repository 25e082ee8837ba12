import type { Clock, Log } from "@payment-links/runtime";
import { type RequestIntrospection, InvalidIntrospectionResponse } from "./caller.ts";
import type { IdentityMetrics } from "./identity-metrics.ts";

type CircuitBreakerOptions = {
  requestIntrospection: RequestIntrospection;
  clock: Clock;
  identityMetrics: IdentityMetrics;
  log: Log;
};

const retryIntervalMs = 500;
const inFlightMax = 1_000;

/**
 * Stops callers from waiting while auth-keys does not respond. After a failed request, other
 * requests fail immediately with the same error, but one request per 500 ms is sent as a probe. An
 * `InvalidIntrospectionResponse` does not open the circuit, because a single credential may have
 * caused it. Each change of state is logged once.
 */
export const withCircuitBreaker = ({
  requestIntrospection,
  clock,
  identityMetrics,
  log,
}: CircuitBreakerOptions): RequestIntrospection => {
  let lastFailure: { error: unknown; atMs: number } | undefined;
  let isProbing = false;
  let inFlightCount = 0;

  const nowMs = () => clock.now().getTime();
  const canProbe = (failedAtMs: number): boolean => {
    const ageMs = nowMs() - failedAtMs;
    return !isProbing && (ageMs < 0 || ageMs >= retryIntervalMs);
  };
  const recordSuccess = () => {
    identityMetrics.recordSuccess();
    if (lastFailure === undefined) return;
    lastFailure = undefined;
    log.info("auth-keys reachable again");
  };
  const recordFailure = (error: unknown) => {
    identityMetrics.recordFailure();
    if (lastFailure === undefined) log.warn({ err: error }, "auth-keys unreachable");
    lastFailure = { error, atMs: nowMs() };
  };

  const requestAndCount: RequestIntrospection = async (request) => {
    const { kind } = request;
    const stopTimer = identityMetrics.requestSeconds.startTimer({ kind });
    inFlightCount += 1;
    try {
      const response = await requestIntrospection(request);
      identityMetrics.requests.inc({ kind, outcome: response.found ? "found" : "not_found" });
      recordSuccess();
      return response;
    } catch (error) {
      identityMetrics.requests.inc({ kind, outcome: "failed" });
      if (error instanceof InvalidIntrospectionResponse) recordSuccess();
      else recordFailure(error);
      throw error;
    } finally {
      inFlightCount -= 1;
      stopTimer();
    }
  };

  return async (request) => {
    if (inFlightCount >= inFlightMax)
      throw new Error("too many requests to auth-keys are in flight");
    if (lastFailure === undefined) return requestAndCount(request);
    if (!canProbe(lastFailure.atMs)) throw lastFailure.error;
    isProbing = true;
    try {
      return await requestAndCount(request);
    } finally {
      isProbing = false;
    }
  };
};
