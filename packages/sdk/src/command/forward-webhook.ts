import { withDeadline } from "../with-deadline.ts";

/** The request that an endpoint would get. */
export type ListenerWebhook = { headers: Record<string, string>; body: string };

/** The result of forwarding a webhook. */
export type ForwardResult = { status: number | null; error: string | null; durationMs: number };

/** The same as for endpoints. */
const timeoutMs = 10_000;

/**
 * Sends a webhook to a receiver once, with exactly its headers and body. Never throws. The response
 * is discarded, and redirects are not followed.
 */
export const forwardWebhook = async (
  receiverUrl: URL,
  { headers, body }: ListenerWebhook,
  signal: AbortSignal,
): Promise<ForwardResult> => {
  const startedAt = performance.now();
  const getDurationMs = () => Math.round(performance.now() - startedAt);
  try {
    return await withDeadline(signal, timeoutMs, async (requestSignal) => {
      const request = { method: "POST", headers, body, redirect: "manual" } as const;
      const response = await fetch(receiverUrl, { ...request, signal: requestSignal });
      const durationMs = getDurationMs();
      await response.body?.cancel();
      return { status: response.status, error: null, durationMs };
    });
  } catch (error) {
    return { status: null, error: describeError(error), durationMs: getDurationMs() };
  }
};

const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? error.message;
};
