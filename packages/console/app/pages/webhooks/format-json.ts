/** Adds line breaks to JSON. Returns any other text unchanged. */
export const formatJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
