import type { PaymentLinkData } from "../shapes.ts";

/** Removes control characters, which could change what a terminal shows. */
export const toPrintable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, " ");

type ShownLink = Pick<
  PaymentLinkData,
  "id" | "status" | "toAmount" | "receivedAmount" | "token" | "description" | "url"
>;

/** Formats a link as one line. */
export const formatLinkLine = (link: ShownLink): string => {
  const { id, status, description } = link;
  const line = `${id}  ${status.padEnd(9)}  ${formatLinkAmount(link)}`;
  return toPrintable(description === null ? line : `${line}  ${description}`);
};

/** Formats how much of a link's amount has been received. */
export const formatLinkAmount = ({ receivedAmount, toAmount, token }: ShownLink): string =>
  toPrintable(`${receivedAmount} of ${toAmount} ${token.symbol}`);

/** Formats rows as columns of equal width. */
export const formatColumns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
};
