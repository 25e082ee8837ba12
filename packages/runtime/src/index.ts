export { setConnectAttemptTimeout } from "./connect-attempt-timeout.ts";
export { type Backoff, backoffMs } from "./backoff.ts";
export { type Clock, type FakeClock, afterMs, createFakeClock, systemClock } from "./clock.ts";
export {
  CommaList,
  TokenList,
  ConfigError,
  createConfigError,
  type Environment,
  OriginUrl,
  Port,
  RateLimit,
  BooleanFlag,
  parseConfig,
  readSecret,
} from "./config.ts";
export { type Log, describeError, logLevels, createLog } from "./log.ts";
export { type Loop, startLoop } from "./loop.ts";
export {
  type Metrics,
  addProcessMetrics,
  renderMetrics,
  metricsContentType,
  createMetrics,
} from "./metrics.ts";
export { type StopList, exitOnUncaughtError, createStopList, stopOnSignal } from "./stop.ts";
export {
  getActiveTraceparent,
  extractTraceContext,
  joinTraceById,
  startTracing,
  tracer,
} from "./tracing.ts";
