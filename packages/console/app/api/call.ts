import { ApiError, isRefused } from "./api-error.ts";
import { type Operations, operations } from "./operations.ts";
import { askForPresence } from "./presence.ts";

/** The name of an operation of the console API. */
export type OperationId = keyof Operations;
/** What a call takes. */
export type InputOf<Id extends OperationId> = Operations[Id]["input"];
/** What a call is answered with. */
export type AnswerOf<Id extends OperationId> = Operations[Id]["answer"];

type GivenInput<Id extends OperationId> =
  object extends InputOf<Id> ? [input?: InputOf<Id>] : [input: InputOf<Id>];

type AnyInput = {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  header?: Record<string, string | undefined>;
  body?: unknown;
};

/** Hears `ended` when a call was refused because nobody is signed in. */
export const sessionEnded = new EventTarget();

/** Makes a call, and once more after the person has proven to be there, if that was missing. */
export const call = async <Id extends OperationId>(
  id: Id,
  ...[input]: GivenInput<Id>
): Promise<AnswerOf<Id>> => {
  try {
    return await callOnce(id, input);
  } catch (error) {
    if (!isRefused(error, "REAUTHENTICATION_REQUIRED")) throw error;
    await askForPresence(error.methods);
    return callOnce(id, input);
  }
};

/** The address of an operation, for links and downloads. */
export const addressOf = <Id extends OperationId>(id: Id, ...[input]: GivenInput<Id>): string => {
  const { path = {}, query = {} } = (input ?? {}) as AnyInput;
  const [, template] = operations[id];
  const address = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  ).toString();
  return search === "" ? address : `${address}?${search}`;
};

const callOnce = async <Id extends OperationId>(
  id: Id,
  input: InputOf<Id> | undefined,
): Promise<AnswerOf<Id>> => {
  const { body, header = {} } = (input ?? {}) as AnyInput;
  const headers = new Headers(
    Object.entries(header).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const answer = await fetch(addressOf(id, ...([input] as GivenInput<Id>)), {
    method: operations[id][0],
    headers,
    // Where a call leads away, only that it does is told.
    redirect: "manual",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, [{ code: "UNREACHABLE", message: "" }]);
  });
  if (answer.status === 204 || answer.type === "opaqueredirect") return undefined;
  const read: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && read !== undefined) return read as AnswerOf<Id>;
  throw tellError(answer, read);
};

/** What an answer says that is not what was asked for; that nobody is signed in is heard everywhere. */
export const tellError = (answer: Response, read: unknown): ApiError => {
  const error = readError(answer, read);
  if (error.codes.includes("UNAUTHENTICATED")) sessionEnded.dispatchEvent(new Event("ended"));
  return error;
};

const readError = (answer: Response, read: unknown): ApiError => {
  const entries = (read as { errors?: ConstructorParameters<typeof ApiError>[1] })?.errors;
  const waitSeconds = Number(answer.headers.get("Retry-After") ?? Number.NaN);
  // What stands before the service may answer in its own way.
  const status = answer.ok ? 502 : answer.status;
  return new ApiError(
    status,
    entries ?? [{ code: String(status), message: "" }],
    Number.isFinite(waitSeconds) ? waitSeconds : undefined,
  );
};
