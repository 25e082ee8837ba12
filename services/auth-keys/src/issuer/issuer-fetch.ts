import type { CustomFetch } from "openid-client";

/**
 * Thrown if a server, such as the identity provider or an RPC node, does not respond or reports
 * that it cannot serve the request.
 */
export class UpstreamUnavailableError extends Error {}

const responseBytesMax = 256 * 1024;

/**
 * Sends a request to an external server, such as the identity provider or an RPC node. Does not
 * follow redirects and reads at most 256 KiB. The timeout of the request's signal also covers the
 * body. Throws `UpstreamUnavailableError`.
 */
export const issuerFetch: CustomFetch = async (url, { method, headers, body, signal }) => {
  const response = await fetchResponse(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return new Response(response.bytes, { status: response.status, headers: response.headers });
};

const fetchResponse = async (url: string, init: RequestInit) => {
  try {
    const { status, headers, body } = await fetch(url, init);
    if (status >= 500 || status === 429) {
      await body?.cancel();
      throw new UpstreamUnavailableError(`the server responded with status ${status}`);
    }
    return { status, headers, bytes: await readLimited(body) };
  } catch (error) {
    if (error instanceof UpstreamUnavailableError) throw error;
    throw new UpstreamUnavailableError(`the server does not respond (${getErrorCode(error)})`);
  }
};

/**
 * Returns the system's error code or, if there is none, the error's name. This helps an operator
 * without revealing the URL or the body. The error can come from another realm, where `instanceof`
 * fails.
 */
const getErrorCode = (error: unknown): string => {
  const { cause, name } = error as { cause?: { code?: string } | null; name?: string };
  return cause?.code ?? name ?? "unknown";
};

const readLimited = async (body: ReadableStream<Uint8Array> | null): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > responseBytesMax)
      throw new UpstreamUnavailableError("the server's response is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
