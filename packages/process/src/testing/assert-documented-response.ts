import { isDeepStrictEqual } from "node:util";
import {
  type Operation,
  consoleOperations,
  createLinkBody,
  loadCatalogue,
  publicLinkOperations,
  testModeOperations,
  listApiErrorCodes,
  getApiErrorStatus,
  validationMessages,
} from "@payment-links/contracts";

type ObservedResponse = { method: string; path: string; status: number; json: unknown };

const getNow = () => new Date();
const operations: readonly Operation[] = [
  ...Object.values(publicLinkOperations(createLinkBody(getNow))),
  ...Object.values(testModeOperations),
  ...consoleOperations({ catalogue: loadCatalogue(), now: getNow }),
];

/**
 * Checks that a response matches its operation in the OpenAPI documents: its status and error codes
 * are documented, no fields are missing or undocumented, and all types are correct. Throws if it
 * does not match. Ignores requests that do not match a documented operation.
 */
export const assertDocumentedResponse = ({
  method,
  path,
  status,
  json,
}: ObservedResponse): void => {
  const operation = operations.find(
    (candidate) =>
      candidate.method === method.toLowerCase() && createPathPattern(candidate).test(path),
  );
  if (operation === undefined) return;
  const mismatch = findMismatch(operation, status, json);
  if (mismatch === undefined) return;
  throw new Error(
    `${operation.operationId} does not match its documentation: ${status}, ${mismatch}`,
  );
};

const createPathPattern = ({ path }: Operation): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}(\\?|$)`);

const findMismatch = (operation: Operation, status: number, json: unknown): string | undefined => {
  const responses: Readonly<Record<number, unknown>> = operation.responses;
  if (!(status in responses)) return findErrorMismatch(operation, status, json);
  const schema = Object.entries(operation.responses).find(
    ([documentedStatus]) => documentedStatus === String(status),
  )?.[1];
  if (schema === null || schema === undefined) return undefined;
  const parsed = schema.safeParse(json);
  if (!parsed.success) return parsed.error.message;
  return isDeepStrictEqual(parsed.data, json)
    ? undefined
    : `fields other than ${JSON.stringify(parsed.data)}`;
};

const findErrorMismatch = (
  operation: Operation,
  status: number,
  json: unknown,
): string | undefined => {
  const documentedCodes = listApiErrorCodes(operation).filter(
    (code) => getApiErrorStatus(code) === status,
  );
  const hasInput = operation.body !== undefined || operation.query !== undefined;
  const validationCodes = status === 422 && hasInput ? Object.keys(validationMessages) : [];
  const allowedCodes = new Set<string>([...documentedCodes, ...validationCodes]);
  const codes = getErrorCodes(json);
  const undocumentedCodes = codes.filter((code) => !allowedCodes.has(code));
  return codes.length === 0 || undocumentedCodes.length > 0 ? JSON.stringify(json) : undefined;
};

const getErrorCodes = (json: unknown): string[] => {
  if (typeof json !== "object" || json === null || !("errors" in json)) return [];
  return Array.isArray(json.errors) ? json.errors.map(({ code }) => String(code)) : [];
};
