import { createLinkBody } from "./payment-link.ts";

/** The response header that names the fields of a create that had no effect (rule API-43). */
export const ignoredFieldsHeader = "Payment-Links-Ignored-Fields";

const namesMax = 10;
/**
 * The names that are reported. They can stand in a header, and they are shorter than an API key or
 * a webhook secret, so that a secret that is sent as a name by mistake is not reported.
 */
const namePattern = /^[A-Za-z0-9_.-]{1,40}$/;

const knownNames: ReadonlySet<string> = new Set(
  Object.keys(createLinkBody(() => new Date()).unwrap().out.shape),
);

/** Returns the names of the first ten fields of a create's body that are not fields of a link. */
export const listIgnoredFields = (body: unknown): readonly string[] =>
  typeof body !== "object" || body === null
    ? []
    : Object.keys(body)
        .filter((name) => !knownNames.has(name) && namePattern.test(name))
        .slice(0, namesMax);
