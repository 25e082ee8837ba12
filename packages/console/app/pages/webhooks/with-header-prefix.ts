/** Returns a sample with the names of the webhook's headers as this service is configured to send them. */
export const withHeaderPrefix = (sample: string, headerPrefix: string): string =>
  sample
    .replaceAll("Service-", `${headerPrefix}-`)
    .replaceAll("service-", `${headerPrefix.toLowerCase()}-`);
