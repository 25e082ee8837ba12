/** Replaces the example's base URL in a code sample. */
export const withBaseUrl = (sample: string, baseUrl: string): string =>
  sample.replaceAll("https://pay.example.com", baseUrl);
