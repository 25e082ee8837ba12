import type { AuditEntry } from "@payment-links/contracts";

const columns = {
  id: ({ id }) => id,
  dateCreated: ({ dateCreated }) => dateCreated,
  action: ({ action }) => action,
  actorKind: ({ actor }) => actor.kind,
  actorId: ({ actor }) => actor.id,
  method: ({ method }) => method,
  targetId: ({ targetId }) => targetId,
  address: ({ address }) => address,
  userAgent: ({ userAgent }) => userAgent,
  detail: ({ detail }) => JSON.stringify(detail),
} satisfies Record<string, (entry: AuditEntry) => string | null>;

/** The first line of an export (RFC 4180). */
export const auditCsvHeader = `${Object.keys(columns).join(",")}\r\n`;

/** An entry as a line of CSV. */
export const auditCsvLine = (entry: AuditEntry): string =>
  `${Object.values(columns)
    .map((read) => cellOf(read(entry) ?? ""))
    .join(",")}\r\n`;

/** Spreadsheets run a cell that begins like a formula, and a stranger chooses the browser's name. */
const cellOf = (text: string): string => {
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
};
