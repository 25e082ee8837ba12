import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export type RequestOptions = {
  port: number;
  method?: string;
  path?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  agent?: Agent;
};

export type TestResponse = { status: number; headers: IncomingHttpHeaders; text: string };

/** Sends one request, on a separate connection unless an agent is given. */
export const sendRequest = ({
  port,
  method,
  path = "/",
  headers = {},
  body,
  agent,
}: RequestOptions): Promise<TestResponse> =>
  new Promise((resolve, reject) => {
    const resolvedMethod = method ?? (body === undefined ? "GET" : "POST");
    const options = {
      host: "127.0.0.1",
      port,
      method: resolvedMethod,
      path,
      headers,
      agent: agent ?? false,
    };
    const clientRequest = request(options, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
      });
    });
    clientRequest.on("error", reject);
    clientRequest.end(body);
  });

/**
 * Returns the codes of a response's error envelope. Throws if the envelope has any other fields.
 */
export const getErrorCodes = (response: TestResponse): string => {
  const envelope = JSON.parse(response.text) as { errors: { message: string; code: string }[] };
  const expected = { errors: envelope.errors.map(({ message, code }) => ({ message, code })) };
  if (JSON.stringify(envelope) !== JSON.stringify(expected)) throw new Error(response.text);
  return envelope.errors.map(({ code }) => code).join(" ");
};

/** Sends raw bytes and returns everything received until the connection ends. */
export const sendRaw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let receivedText = "";
    socket.on("data", (chunk: Buffer) => {
      receivedText += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(receivedText));
    socket.on("error", reject);
    socket.write(text, "latin1");
  });
