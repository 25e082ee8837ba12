/** The four services, by their keys in the chart's values. */
export const serviceBlocks = {
  authKeys: "auth-keys",
  linksApi: "links-api",
  settlementListener: "settlement-listener",
  webhookDispatcher: "webhook-dispatcher",
} as const;
