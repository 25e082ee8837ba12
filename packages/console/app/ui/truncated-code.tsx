import { truncateMiddle } from "./format.ts";

/** An address or id with its middle left out. */
export const TruncatedCode = ({ text }: { text: string }) => (
  <code title={text}>{truncateMiddle(text)}</code>
);
