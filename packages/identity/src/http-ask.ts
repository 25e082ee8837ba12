import { Agent, request } from "undici";
import * as z from "zod";
import { IntrospectionAnswer, IntrospectionQuestion } from "@payment-links/contracts";
import { activeTraceparent } from "@payment-links/runtime";
import { type Ask, BadAnswer } from "./caller.ts";

type HttpAskOptions = {
  /** The internal address of auth-keys, without a trailing slash. */
  url: string;
  /** What `/internal/…` requires as a bearer. */
  token?: string | undefined;
  timeoutMs?: number;
};

const timeoutMsDefault = 2_000;
const connectionsMax = 32;
const answerBytesMax = 256 * 1024;

/** Asks auth-keys over HTTP, on kept connections. Each question has one deadline for all of it. */
export const createHttpAsk = ({
  url,
  token,
  timeoutMs = timeoutMsDefault,
}: HttpAskOptions): Ask => {
  const dispatcher = new Agent({ connections: connectionsMax, maxResponseSize: answerBytesMax });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (question) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const traceparent = activeTraceparent();
    const post = () =>
      request(`${url}/internal/introspect`, {
        dispatcher,
        signal,
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...authorization,
          ...(traceparent === undefined ? {} : { traceparent }),
        },
        body: JSON.stringify(z.encode(IntrospectionQuestion, question)),
      });
    const answer = await post().catch((error: unknown) => {
      // A kept connection can close just as it is used. Asking changes nothing, so it asks once
      // more.
      if (isBrokenConnection(error)) return post();
      throw error;
    });
    return readAnswer(answer.statusCode, await readText(answer.body));
  };
};

const isBrokenConnection = (error: unknown): boolean =>
  hasCode(error, "ECONNRESET") || hasCode(error, "EPIPE") || hasCode(error, "UND_ERR_SOCKET");

const hasCode = (error: unknown, code: string): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === code;

const readText = (body: { text(): Promise<string> }): Promise<string> =>
  body.text().catch((error: unknown) => {
    if (hasCode(error, "UND_ERR_RES_EXCEEDED_MAX_SIZE")) {
      throw new BadAnswer(`auth-keys' answer is longer than ${answerBytesMax} bytes`);
    }
    throw error;
  });

/** The one question may have caused these. Any other status says that auth-keys cannot answer. */
const statusesOfOneQuestion = new Set([400, 413, 422, 500]);

const readAnswer = (status: number, text: string): IntrospectionAnswer => {
  if (status !== 200) {
    const message = `auth-keys answered with status ${status}`;
    throw statusesOfOneQuestion.has(status) ? new BadAnswer(message) : new Error(message);
  }
  const answer = z.safeDecode(IntrospectionAnswer, parseJson(text));
  // Only the fault's place is told, not the text, because the text describes an account.
  if (!answer.success) throw new BadAnswer(`auth-keys' answer: ${faults(answer.error)}`);
  return answer.data;
};

const parseJson = (text: string): z.input<typeof IntrospectionAnswer> => {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadAnswer("auth-keys' answer is no JSON");
  }
};

const faults = (error: z.ZodError): string =>
  error.issues.map(({ path, code }) => `${path.join(".") || "answer"} ${code}`).join(", ");
