import fc from "fast-check";

const lookalikeCharacters: Readonly<Record<string, string>> = {
  0: "O",
  O: "0",
  I: "l",
  l: "I",
  1: "l",
  o: "0",
};

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl \u200B-é";

/** Generates texts with typing, font or clipboard errors. Some of them are unchanged. */
export const misspellings = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      texts,
      fc.constantFrom(...corruptions),
      fc.nat(200),
      fc.constantFrom(...alphabet),
      fc.nat(200),
    )
    .map(([text, corrupt, position, character, otherPosition]) => {
      const index = position % text.length;
      return corrupt(text, { index, otherIndex: otherPosition % text.length, character });
    });

type CorruptionTarget = { index: number; otherIndex: number; character: string };

const corruptions: readonly ((text: string, target: CorruptionTarget) => string)[] = [
  (text) => text,
  (text, { index, character }) => text.slice(0, index) + character + text.slice(index + 1),
  (text, { index, character }) => text.slice(0, index) + character + text.slice(index),
  (text, { index }) => text.slice(0, index) + text.slice(index + 1),
  (text, { index }) => text.slice(0, index),
  (text, { index, otherIndex }) => swap(text, index, otherIndex),
  (text, { index }) =>
    text.slice(0, index) + text.charAt(index).toUpperCase() + text.slice(index + 1),
  (text, { index }) =>
    text.slice(0, index) + text.charAt(index).toLowerCase() + text.slice(index + 1),
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => [...text].map((letter) => lookalikeCharacters[letter] ?? letter).join(""),
  (text) => `1${text}`,
  (text) => ` ${text}`,
  (text) => `${text}\n`,
  (text, { index }) => `${text.slice(0, index)}\u200B${text.slice(index)}`,
  (text) => text + text,
];

const swap = (text: string, a: number, b: number): string => {
  const characters = [...text];
  const [first = "", second = ""] = [characters[a], characters[b]];
  characters[a] = second;
  characters[b] = first;
  return characters.join("");
};
