import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export type Call = {
  port: number;
  method?: string;
  path?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  agent?: Agent;
};

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** Sends one request as told, on its own connection if no agent is given. */
export const call = ({
  port,
  method,
  path = "/",
  headers = {},
  body,
  agent,
}: Call): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const verb = method ?? (body === undefined ? "GET" : "POST");
    const options = { host: "127.0.0.1", port, method: verb, path, headers, agent: agent ?? false };
    const sent = request(options, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** The codes of an answer's error envelope, which must be there and hold nothing else. */
export const codesOf = (answer: Answer): string => {
  const envelope = JSON.parse(answer.text) as { errors: { message: string; code: string }[] };
  const expected = { errors: envelope.errors.map(({ message, code }) => ({ message, code })) };
  if (JSON.stringify(envelope) !== JSON.stringify(expected)) throw new Error(answer.text);
  return envelope.errors.map(({ code }) => code).join(" ");
};

/** Sends bytes as they are, and answers all that comes back until the connection ends. */
export const callRaw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let read = "";
    socket.on("data", (chunk: Buffer) => {
      read += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(read));
    socket.on("error", reject);
    socket.write(text, "latin1");
  });
