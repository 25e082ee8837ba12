import fc from "fast-check";

const lookAlikes: Readonly<Record<string, string>> = {
  0: "O",
  O: "0",
  I: "l",
  l: "I",
  1: "l",
  o: "0",
};

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl \u200B-é";

/** A text as a hand, a font or a clipboard spoils it; now and then as it was. */
export const misspelt = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      texts,
      fc.constantFrom(...spoilings),
      fc.nat(200),
      fc.constantFrom(...alphabet),
      fc.nat(200),
    )
    .map(([text, spoil, at, character, other]) => {
      const place = at % text.length;
      return spoil(text, { place, other: other % text.length, character });
    });

type Where = { place: number; other: number; character: string };

const spoilings: readonly ((text: string, where: Where) => string)[] = [
  (text) => text,
  (text, { place, character }) => text.slice(0, place) + character + text.slice(place + 1),
  (text, { place, character }) => text.slice(0, place) + character + text.slice(place),
  (text, { place }) => text.slice(0, place) + text.slice(place + 1),
  (text, { place }) => text.slice(0, place),
  (text, { place, other }) => swap(text, place, other),
  (text, { place }) =>
    text.slice(0, place) + text.charAt(place).toUpperCase() + text.slice(place + 1),
  (text, { place }) =>
    text.slice(0, place) + text.charAt(place).toLowerCase() + text.slice(place + 1),
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => [...text].map((one) => lookAlikes[one] ?? one).join(""),
  (text) => `1${text}`,
  (text) => ` ${text}`,
  (text) => `${text}\n`,
  (text, { place }) => `${text.slice(0, place)}\u200B${text.slice(place)}`,
  (text) => text + text,
];

const swap = (text: string, a: number, b: number): string => {
  const characters = [...text];
  const [first = "", second = ""] = [characters[a], characters[b]];
  characters[a] = second;
  characters[b] = first;
  return characters.join("");
};
