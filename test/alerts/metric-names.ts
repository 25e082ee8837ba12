/**
 * The names of metrics that a PromQL expression reads. Enough for expressions of our own: what is left
 * once strings, selectors, ranges and lists of labels are taken away, and is neither function nor word.
 */
export const metricNamesOf = (expr: string): string[] => {
  const bare = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "")
    .replaceAll(/\boffset\s+\w+/g, "");
  const names = bare.match(/(?<![\w:])[a-zA-Z_:][\w:]*(?!\s*[\w:(])/g) ?? [];
  return [...new Set(names.filter((name) => !words.has(name)))];
};

const words = new Set(["and", "or", "unless", "bool", "by"]);
