export { waitForEachAddress } from "./address-wait.ts";
export { type Backoff, backoffMs } from "./backoff.ts";
export { type Clock, type HeldClock, afterMs, createHeldClock, systemClock } from "./clock.ts";
export {
  CommaList,
  TokenList,
  ConfigError,
  configError,
  type Environment,
  OriginUrl,
  Port,
  RateLimit,
  Switch,
  readConfig,
  readSecret,
} from "./config.ts";
export { type Log, describeError, logLevels, openLog } from "./log.ts";
export { type Loop, startLoop } from "./loop.ts";
export {
  type Metrics,
  addProcessMetrics,
  exposeMetrics,
  metricsContentType,
  openMetrics,
} from "./metrics.ts";
export { type StopList, crashOnUncaught, createStopList, stopOnSignal } from "./stop.ts";
export { activeTraceparent, continueTrace, joinTrace, openTracing, tracer } from "./tracing.ts";
