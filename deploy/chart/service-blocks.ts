/** The four services, by their blocks of the chart's values. */
export const serviceBlocks = {
  authKeys: "auth-keys",
  linksApi: "links-api",
  settlementListener: "settlement-listener",
  webhookDispatcher: "webhook-dispatcher",
} as const;
