import { apiData } from "./api-data.ts";
import { writeFields } from "./write-fields.ts";

const { document, webhooks } = apiData;

/** Writes a complete webhook of a type, as the dispatcher serializes it. */
export const writeWebhook = (type: string): string => {
  const sample = webhooks[type];
  if (sample === undefined) throw new Error(`no sample of the webhook ${type}`);
  const headerLines = Object.entries(sample.headers).map(([name, value]) => `${name}: ${value}`);
  const body = JSON.stringify(JSON.parse(sample.body), undefined, 2);
  return [`\`\`\`http\n${headerLines.join("\n")}\n\`\`\``, `\`\`\`json\n${body}\n\`\`\``].join(
    "\n\n",
  );
};

/** Writes the fields of a webhook of a type. */
export const writeWebhookFields = (type: string): string => {
  const webhook = document.webhooks[type];
  if (webhook === undefined) throw new Error(`the API does not describe the webhook ${type}`);
  return writeFields(webhook.post.requestBody.content["application/json"].schema);
};
