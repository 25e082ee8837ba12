/** Replaces the header prefix in a code sample with the configured one. */
export const withHeaderPrefix = (sample: string, headerPrefix: string): string =>
  sample
    .replaceAll("Service-", `${headerPrefix}-`)
    .replaceAll("service-", `${headerPrefix.toLowerCase()}-`);
