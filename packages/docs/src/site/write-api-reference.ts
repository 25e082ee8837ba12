import { apiErrorCodes } from "@payment-links/contracts";
import { type ApiOperation, type OperationSample, type Parameter, apiData } from "./api-data.ts";
import { describeType, escapeCell, resolveSchema, writeFields } from "./write-fields.ts";

const { document, operations: samples } = apiData;

/** Writes the reference of all operations of the public API from its OpenAPI document. */
export const writeApiReference = (): string =>
  Object.entries(document.paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) =>
        writeOperation(method.toUpperCase(), path, operation),
      ),
    )
    .join("\n\n");

const writeOperation = (method: string, path: string, operation: ApiOperation): string => {
  const { description, operationId, parameters = [], requestBody, summary } = operation;
  const body = requestBody?.content["application/json"].schema;
  return [
    `## ${summary}`,
    `\`\`\`text\n${method} ${path}\n\`\`\``,
    description,
    ...writeParameters(parameters),
    ...(body === undefined ? [] : ["**Body**", writeFields(body, { isRequest: true })]),
    "**Example**",
    writeRequest(method, operation),
    ...writeResponses(operation),
    `Operation id: \`${operationId}\``,
  ].join("\n\n");
};

const writeParameters = (parameters: readonly Parameter[]): string[] =>
  parameters.length === 0
    ? []
    : [
        "**Parameters**",
        [
          "| Name | In | Type | Description |",
          "| --- | --- | --- | --- |",
          ...parameters.map(
            ({ description = "", in: place, name, schema }) =>
              `| \`${name}\` | ${place} | ${describeType(schema)} | ${escapeCell(description || (resolveSchema(schema).description ?? ""))} |`,
          ),
        ].join("\n"),
      ];

const sampleOrigin = "https://pay.example.com";

const writeRequest = (method: string, { operationId, security }: ApiOperation): string => {
  const { body, path } = getSample(operationId);
  const lines = [
    `curl "${sampleOrigin}${path}"`,
    ...(security.length > 0 ? ['-H "X-API-Key: $API_KEY"'] : []),
    ...(method === "POST" && body === undefined ? ["-X POST"] : []),
    ...(body !== undefined
      ? [
          "-H 'Content-Type: application/json'",
          "-H 'Idempotency-Key: order-1001'",
          `-d '${JSON.stringify(body)}'`,
        ]
      : []),
  ];
  return `\`\`\`sh\n${lines.join(" \\\n  ")}\n\`\`\``;
};

const getSample = (operationId: string): OperationSample => {
  const sample = samples[operationId];
  if (sample === undefined) throw new Error(`no sample of the operation ${operationId}`);
  return sample;
};

const writeResponses = ({ operationId, responses }: ApiOperation): string[] => {
  const sample = getSample(operationId);
  const getExample = (status: string): string => {
    const example = sample.responses[status];
    if (example === undefined) throw new Error(`no sample of ${operationId} ${status}`);
    return `${JSON.stringify(example, undefined, 2)}\n\`\`\``;
  };
  const entries = Object.entries(responses);
  const successes = entries.filter(([status]) => status.startsWith("2"));
  const errors = entries.filter(([status]) => !status.startsWith("2"));
  return [
    ...successes.flatMap(([status, { content }]) => [
      `### Response ${status}`,
      ...(content === undefined ? [] : [writeFields(content["application/json"].schema)]),
      `\`\`\`json\n${getExample(status)}`,
    ]),
    "### Errors",
    ...errors.map(([status, { description }]) => `**${status}**\n\n${linkCodes(description)}`),
    ...errors.map(([status]) => `\`\`\`json tab=${status}\n${getExample(status)}`),
  ];
};

const knownCodes = new Set<string>(apiErrorCodes);

/** Writes the codes of a status as a list, each with a link to its entry. */
const linkCodes = (description: string): string =>
  description
    .replaceAll(/^`(\w+)`/gm, (text, code: string) =>
      knownCodes.has(code) ? `- [${text}](errors.md#${code})` : text,
    )
    .replaceAll(/^A validation code/gm, "- [A validation code](errors.md#validation)");
