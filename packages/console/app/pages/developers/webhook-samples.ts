import go from "./samples/read_webhook.go?raw";
import php from "./samples/read_webhook.php?raw";
import python from "./samples/read_webhook.py?raw";
// oxlint-disable-next-line import/default -- Vite makes the file's text the default export.
import node from "./samples/read-webhook.mjs?raw";
import { withHeaderPrefix } from "./with-header-prefix.ts";

/** Returns the code with which a receiver verifies webhooks, by language (rule HOOK-20). */
export const getWebhookSamples = (headerPrefix: string): Readonly<Record<string, string>> => ({
  "Node.js": withHeaderPrefix(node, headerPrefix),
  Python: withHeaderPrefix(python, headerPrefix),
  PHP: withHeaderPrefix(php, headerPrefix),
  Go: withHeaderPrefix(go, headerPrefix),
});
