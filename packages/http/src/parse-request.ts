import getRawBody from "raw-body";
import type { Request } from "express";
import type * as z from "zod";
import {
  ApiError,
  type ApiErrorCode,
  createValidationError,
  parseJson,
  parseInput,
  createApiError,
} from "@payment-links/contracts";

/** The maximum body size of every route without its own limit (rule API-17). */
export const bodyBytesMax = 64 * 1024;

/** A reviver is called for each value, so 32,000 of them in one body would take 50 ms. */
const jsonValuesMax = 2_000;

const utf8Decoder = new TextDecoder("utf-8", { fatal: true });

/** Bodies that the server has started to read before their handler requested them. */
const pendingBodies = new WeakMap<Request, Promise<Buffer>>();

/**
 * Waits until a request's body has arrived completely, and throws if it does not. The handler then
 * reads the body as usual.
 */
export const receiveBody = async (req: Request, bytesMax?: number): Promise<void> => {
  const pendingBody = receiveBytes(req, bytesMax);
  pendingBodies.set(req, pendingBody);
  await pendingBody;
};

/** Reads a request's raw bytes, by default at most 64 KiB. Rejects compressed bodies. */
export const readBodyBytes = (req: Request, bytesMax?: number): Promise<Buffer> =>
  pendingBodies.get(req) ?? receiveBytes(req, bytesMax);

/** The rest of a form is ignored, because parsing 64 KiB of empty fields takes 18 ms. */
const formBytesMax = 4_096;

/** Reads the fields of an HTML form. */
export const readForm = async (req: Request): Promise<URLSearchParams> =>
  new URLSearchParams((await readBodyBytes(req)).toString("utf8", 0, formBytesMax));

/** Rejects a body that is compressed or whose declared length is too large, before it is read. */
export const checkBodyHeaders = ({ headers }: Request, bytesMax = bodyBytesMax): void => {
  const { "content-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw createApiError("UNSUPPORTED_CONTENT_ENCODING");
  }
  if (Number(length ?? 0) > bytesMax) throw createApiError("PAYLOAD_TOO_LARGE");
};

const receiveBytes = async (req: Request, bytesMax = bodyBytesMax): Promise<Buffer> => {
  checkBodyHeaders(req, bytesMax);
  const length = req.headers["content-length"];
  return getRawBody(req, { limit: bytesMax, ...(length === undefined ? {} : { length }) });
};

/** Parses and validates a JSON body from its bytes (rule API-17). */
export const parseJsonBody = <Schema extends z.ZodType>(
  req: Request,
  bytes: Buffer,
  schema: Schema,
): z.output<Schema> => {
  if (bytes.length === 0) throw createValidationError("missing");
  checkContentType(req);
  return parseInput(schema, parseJsonBytes(bytes));
};

/**
 * Reads, parses and validates a JSON body. Rejects other content types before it reads the body.
 */
export const readJsonBody = async <Schema extends z.ZodType>(
  req: Request,
  schema: Schema,
): Promise<z.output<Schema>> => {
  checkBodyHeaders(req);
  if (hasBody(req)) checkContentType(req);
  return parseJsonBody(req, await readBodyBytes(req), schema);
};

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const checkContentType = (req: Request): void => {
  if (req.is(["json", "+json"]) === false) throw createValidationError("model_attributes_type");
};

/** Parses and validates the query string. Ignores unknown parameters. */
export const parseQuery = <Schema extends z.ZodType>(
  req: Request,
  schema: Schema,
): z.output<Schema> => parseInput(schema, { ...req.query });

/**
 * Returns a parameter of the route's path. Throws the route's not-found error for a value with NUL,
 * because Postgres cannot store such a value.
 */
export const parsePathParameter = (
  req: Request,
  name: string,
  notFoundCode: ApiErrorCode = "NOT_FOUND",
): string => {
  const value = req.params[name];
  if (typeof value !== "string") throw new Error(`the route has no parameter ${name}`);
  if (value.includes("\0")) throw createApiError(notFoundCode);
  return value;
};

const parseJsonBytes = (bytes: Buffer): unknown => {
  try {
    const text = utf8Decoder.decode(bytes);
    if (hasTooManyValues(JSON.parse(text))) throw createApiError("PAYLOAD_TOO_LARGE");
    return parseJson(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw createValidationError("json_invalid");
  }
};

const hasTooManyValues = (json: unknown): boolean => {
  const uncountedValues = [json];
  for (let count = 1; uncountedValues.length > 0; count += 1) {
    const value = uncountedValues.pop();
    if (typeof value === "object" && value !== null) {
      for (const child of Object.values(value)) uncountedValues.push(child);
    }
    if (count + uncountedValues.length > jsonValuesMax) return true;
  }
  return false;
};
