import { isDeepStrictEqual } from "node:util";
import {
  type Operation,
  consoleOperations,
  createLinkBody,
  openCatalogue,
  publicLinkOperations,
  refusalsOf,
  statusOf,
  validationMessages,
} from "@payment-links/contracts";

type Answered = { method: string; path: string; status: number; json: unknown };

const now = () => new Date();
const operations: readonly Operation[] = [
  ...Object.values(publicLinkOperations(createLinkBody(now))),
  ...consoleOperations({ catalogue: openCatalogue(), now }),
];

/**
 * Holds an answer against what the OpenAPI documents say of its operation: a status and a code that are
 * named there, no field missing, none beyond, no type wrong. Throws where they differ. What is no
 * operation of theirs is not judged.
 */
export const holdAnswer = ({ method, path, status, json }: Answered): void => {
  const operation = operations.find(
    (one) => one.method === method.toLowerCase() && pathForm(one).test(path),
  );
  if (operation === undefined) return;
  const fault = faultOf(operation, status, json);
  if (fault === undefined) return;
  throw new Error(`${operation.operationId} is not as documented: ${status}, ${fault}`);
};

const pathForm = ({ path }: Operation): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}(\\?|$)`);

const faultOf = (operation: Operation, status: number, json: unknown): string | undefined => {
  const answers: Readonly<Record<number, unknown>> = operation.answers;
  if (!(status in answers)) return faultOfRefusal(operation, status, json);
  const schema = Object.entries(operation.answers).find(([told]) => told === String(status))?.[1];
  if (schema === null || schema === undefined) return undefined;
  const read = schema.safeParse(json);
  if (!read.success) return read.error.message;
  return isDeepStrictEqual(read.data, json) ? undefined : `more than ${JSON.stringify(read.data)}`;
};

const faultOfRefusal = (
  operation: Operation,
  status: number,
  json: unknown,
): string | undefined => {
  const told = refusalsOf(operation).filter((code) => statusOf(code) === status);
  const isRead = operation.body !== undefined || operation.query !== undefined;
  const validation = status === 422 && isRead ? Object.keys(validationMessages) : [];
  const allowed = new Set<string>([...told, ...validation]);
  const codes = codesOf(json);
  const strange = codes.filter((code) => !allowed.has(code));
  return codes.length === 0 || strange.length > 0 ? JSON.stringify(json) : undefined;
};

const codesOf = (json: unknown): string[] => {
  if (typeof json !== "object" || json === null || !("errors" in json)) return [];
  return Array.isArray(json.errors) ? json.errors.map(({ code }) => String(code)) : [];
};
