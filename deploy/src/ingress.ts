import type { RequestListener } from "node:http";

export type ServiceName = "auth-keys" | "links-api" | "settlement-listener" | "webhook-dispatcher";

/** The paths of the single origin and their services; the first match wins (rule OPS-1). */
const pathRules: readonly (readonly [RegExp, ServiceName])[] = [
  [/^\/console\/api\/openapi\.json(?:\/|$)/, "links-api"],
  [/^\/console\/api\/deposits(?:\.csv)?(?:\/|$)/, "links-api"],
  [/^\/console\/api\/overview(?:\/|$)/, "links-api"],
  [/^\/console\/api\/payment-links(?:\.csv)?(?:\/|$)/, "links-api"],
  [/^\/console\/api\/payments\.csv(?:\/|$)/, "links-api"],
  [/^\/console\/api\/webhook-deliveries(?:\/|$)/, "webhook-dispatcher"],
  [/^\/console\/api\/webhook-endpoints(?:\/|$)/, "webhook-dispatcher"],
  [/^\/console\/api(?:\/|$)/, "auth-keys"],
  [/^\/command\/webhook-listeners(?:\/|$)/, "webhook-dispatcher"],
  [/^\/command\/sign-ins(?:\/|$)/, "auth-keys"],
  [/^\/checkout\/images(?:\/|$)/, "webhook-dispatcher"],
  [/^\/checkout\/pictures(?:\/|$)/, "auth-keys"],
  [/^\/settlement-notices(?:\/|$)/, "settlement-listener"],
];

/**
 * Returns the service for a path, which can include a query string. links-api handles all paths
 * that are not listed, including unknown ones.
 */
export const findService = (target: string): ServiceName => {
  const path = target.split("?", 1)[0] ?? "/";
  return pathRules.find(([pattern]) => pattern.test(path))?.[1] ?? "links-api";
};

/** Routes requests to the services in this process, as an ingress does for separate processes. */
export const createIngress =
  (apps: Readonly<Record<ServiceName, RequestListener>>): RequestListener =>
  (req, res) => {
    apps[findService(req.url ?? "/")](req, res);
  };
