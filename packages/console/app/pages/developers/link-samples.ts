import php from "./samples/create_link.php?raw";
import python from "./samples/create_link.py?raw";
// oxlint-disable-next-line import/default -- Vite makes the file's text the default export.
import node from "./samples/create-link.mjs?raw";
import shell from "./samples/create-link.sh?raw";
import { withBaseUrl } from "./with-base-url.ts";

/** Returns the code that creates a payment link at the given URL, by language. */
export const getLinkSamples = (baseUrl: string): Readonly<Record<string, string>> => ({
  curl: withBaseUrl(shell, baseUrl),
  "Node.js": withBaseUrl(node, baseUrl),
  Python: withBaseUrl(python, baseUrl),
  PHP: withBaseUrl(php, baseUrl),
});
