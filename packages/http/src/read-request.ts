import getRawBody from "raw-body";
import type { Request } from "express";
import type * as z from "zod";
import { type RefusalCode, invalid, parseJson, read, refuse } from "@payment-links/contracts";

/** The largest body that any route reads (rule API-17). */
export const bodyBytesMax = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Bodies that are read before their handlers ask for them. */
const awaited = new WeakMap<Request, Promise<Buffer>>();

/** Waits until a request's body is there, and throws where it does not come whole. Its handler reads it as any other. */
export const awaitBody = async (req: Request): Promise<void> => {
  const reading = receiveBytes(req);
  awaited.set(req, reading);
  await reading;
};

/** Reads a request's raw bytes, at most 64 KiB; compressed bodies are refused. */
export const readBytes = (req: Request): Promise<Buffer> => awaited.get(req) ?? receiveBytes(req);

/** Rejects a compressed body, and one whose length is too large, before a byte of it is read. */
export const checkBodyHeaders = ({ headers }: Request): void => {
  const { "content-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw refuse("UNSUPPORTED_CONTENT_ENCODING");
  }
  if (Number(length ?? 0) > bodyBytesMax) throw refuse("PAYLOAD_TOO_LARGE");
};

const receiveBytes = async (req: Request): Promise<Buffer> => {
  checkBodyHeaders(req);
  const length = req.headers["content-length"];
  return getRawBody(req, { limit: bodyBytesMax, ...(length === undefined ? {} : { length }) });
};

/** Reads a JSON body from its bytes, held against a schema (rule API-17). */
export const readJson = <S extends z.ZodType>(
  req: Request,
  bytes: Buffer,
  schema: S,
): z.output<S> => {
  if (bytes.length === 0) throw invalid("missing");
  checkType(req);
  return read(schema, parseBytes(bytes));
};

/** Reads and checks a JSON body. One of another type is rejected before it is read. */
export const readBody = async <S extends z.ZodType>(
  req: Request,
  schema: S,
): Promise<z.output<S>> => {
  checkBodyHeaders(req);
  if (hasBody(req)) checkType(req);
  return readJson(req, await readBytes(req), schema);
};

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const checkType = (req: Request): void => {
  if (req.is(["json", "+json"]) === false) throw invalid("model_attributes_type");
};

/** Reads and checks the query; unknown parameters are ignored. */
export const readQuery = <S extends z.ZodType>(req: Request, schema: S): z.output<S> =>
  read(schema, { ...req.query });

/**
 * A parameter of the route's path. With a NUL it names nothing, because no row can hold one; it is
 * refused as the route refuses what is not there.
 */
export const readParam = (
  req: Request,
  name: string,
  notFound: RefusalCode = "NOT_FOUND",
): string => {
  const value = req.params[name];
  if (typeof value !== "string") throw new Error(`the route has no parameter ${name}`);
  if (value.includes("\0")) throw refuse(notFound);
  return value;
};

const parseBytes = (bytes: Buffer): unknown => {
  try {
    return parseJson(utf8.decode(bytes));
  } catch {
    throw invalid("json_invalid");
  }
};
