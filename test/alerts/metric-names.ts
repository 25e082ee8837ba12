/**
 * Extracts the metric names from a PromQL expression. Removes strings, selectors, ranges and label
 * lists, and then returns every word that is neither a function nor a keyword. This is sufficient
 * for the expressions in this repository.
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
