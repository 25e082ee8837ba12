/**
 * The names of metrics that a PromQL expression reads. It is enough for our own expressions: it
 * removes strings, selectors, ranges and lists of labels, and takes what is left and is neither a
 * function nor a keyword.
 */
export const extractMetricNames = (expr: string): string[] => {
  const stripped = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "")
    .replaceAll(/\boffset\s+\w+/g, "");
  const names = stripped.match(/(?<![\w:])[a-zA-Z_:][\w:]*(?!\s*[\w:(])/g) ?? [];
  return [...new Set(names.filter((name) => !keywords.has(name)))];
};

const keywords = new Set(["and", "or", "unless", "bool", "by"]);
