import * as fc from "fast-check";

/** How a hostile node changes a correct reply. Returns the text that it sends instead. */
export type Corruption = { name: string; corrupt: (reply: unknown) => string };

const sampleWords = {
  hash: `0x${"ab".repeat(32)}`,
  zero: `0x${"00".repeat(32)}`,
  max: `0x${"ff".repeat(32)}`,
  address: `0x${"11".repeat(20)}`,
};

/**
 * Replacement values. They have another type, are out of bounds, negative or huge, or belong to
 * another chain.
 */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, "", "0x", "0x0", "0x-1", "-0x1", "latest"),
  fc.constantFrom<unknown>(-1, 0, 1e308, -1e308, 0.1, Number.MAX_SAFE_INTEGER, 2 ** 64),
  fc.constantFrom<unknown>("0x1fffffffffffff", "0x20000000000000", "0xffffffffffffffff"),
  fc.constantFrom<unknown>("0x7ffffffffff", "0x0000000000000001", "0X1", " 0x1", "0x1\n", "\0"),
  fc.constantFrom<unknown>(
    sampleWords.hash,
    sampleWords.zero,
    sampleWords.max,
    sampleWords.address,
  ),
  fc.constantFrom<unknown>({ __proto__: null }, { length: 1e9 }, { hash: {} }, [[]], [null]),
  fc.integer({ min: 1, max: 5_000 }).map((count) => `0x${"f".repeat(count)}`),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

const pathArbitrary = fc.array(fc.nat(200), { minLength: 1, maxLength: 8 });

/** Replaces one to three values. */
const replacedValues = fc
  .array(fc.tuple(pathArbitrary, hostileValue), { minLength: 1, maxLength: 3 })
  .map((replacements): Corruption => ({
    name: `values ${JSON.stringify(replacements).slice(0, 200)}`,
    corrupt: (reply) =>
      JSON.stringify(replacements.reduce((tree, [path, value]) => setAt(tree, path, value), reply)),
  }));

const fields = [
  "id jsonrpc result error number hash parentHash timestamp logsBloom",
  "address topics data blockNumber blockHash blockTimestamp transactionHash",
  "logIndex removed status from logs nonce transactions",
].flatMap((names) => names.split(" "));

/** Replaces a field in all places where it occurs. */
const replacedField = fc
  .tuple(fc.constantFrom(...fields), hostileValue)
  .map(([field, value]): Corruption => ({
    name: `${field} ${JSON.stringify(value)?.slice(0, 100)}`,
    corrupt: (reply) =>
      JSON.stringify(reply, (key, original: unknown) => (key === field ? value : original)),
  }));

const changedLists = fc
  .tuple(pathArbitrary, fc.constantFrom("twice", "backwards", "empty", "halved"))
  .map(([path, mode]): Corruption => ({
    name: `lists ${mode}`,
    corrupt: (reply) => JSON.stringify(changeLists(reply, path[0] ?? 0, mode)),
  }));

const removedField = pathArbitrary.map((path): Corruption => ({
  name: "a field left out",
  corrupt: (reply) => JSON.stringify(setAt(reply, path, undefined)),
}));

const invalidJson = fc
  .oneof(
    fc.constantFrom("", "null", "[]", "{}", "<html>", "{", "\u0000", "[".repeat(20_000), "1e999"),
    fc.constantFrom('{"__proto__":{"result":"0x1"}}', '{"error":{"code":"x"}}', '{"error":[]}'),
    fc.string({ unit: "binary", maxLength: 200 }),
  )
  .map((text): Corruption => ({ name: `text ${text.slice(0, 40)}`, corrupt: () => text }));

const truncated = fc.nat(4_000).map((length): Corruption => ({
  name: `cut after ${length}`,
  corrupt: (reply) => JSON.stringify(reply).slice(0, length),
}));

const responseBytesMax = 32 * 1024 * 1024;
const oversized = fc.constantFrom("0", "[", " ").map((character): Corruption => ({
  name: `huge ${character}`,
  corrupt: () => character.repeat(responseBytesMax + 1),
}));

/** Returns each log of a receipt twice. */
const duplicatedLogs = fc.constant<Corruption>({
  name: "logs doubled",
  corrupt: (reply) =>
    JSON.stringify(reply, (key, original: unknown) =>
      key === "logs" && Array.isArray(original) ? [...original, ...original] : original,
    ),
});

const wrongType = fc
  .tuple(
    fc.constantFrom(...fields.filter((field) => field !== "removed" && field !== "error")),
    fc.constantFrom<unknown>(true, {}, "", "latest", -1, 0.1, 2 ** 64, "0x-1", "-0x1", ["0x1"]),
  )
  .map(([field, value]): Corruption => ({
    name: `${field} ${JSON.stringify(value)}`,
    corrupt: (reply) =>
      JSON.stringify(reply, (key, original: unknown) => (key === field ? value : original)),
  }));

/**
 * Responses that only show that the node is broken. None of them could be a false claim by a single
 * provider.
 */
export const brokenResponse: fc.Arbitrary<Corruption> = fc.oneof(
  { weight: 50, arbitrary: invalidJson },
  { weight: 20, arbitrary: truncated },
  { weight: 30, arbitrary: changedLists.filter(({ name }) => /twice|backwards/.test(name)) },
  { weight: 60, arbitrary: wrongType },
  { weight: 30, arbitrary: duplicatedLogs },
);

/** Responses that a correct node would never send. */
export const hostileResponse: fc.Arbitrary<Corruption> = fc.oneof(
  { weight: 250, arbitrary: replacedValues },
  { weight: 250, arbitrary: replacedField },
  { weight: 200, arbitrary: changedLists },
  { weight: 150, arbitrary: removedField },
  { weight: 100, arbitrary: invalidJson },
  { weight: 50, arbitrary: truncated },
  { weight: 1, arbitrary: oversized },
);

/** Changes the amounts of all token transfers. */
const changedAmounts = fc.constantFrom(..."123456789").map((digit): Corruption => ({
  name: "other amounts",
  corrupt: (reply) =>
    JSON.stringify(reply, (key, original: unknown) =>
      key === "data" && typeof original === "string" && original.length === sampleWords.hash.length
        ? `${original.slice(0, -9)}${digit}${original.slice(-8)}`
        : original,
    ),
}));

const changedDigit = fc
  .tuple(pathArbitrary, fc.nat(600), fc.integer({ min: 0, max: 15 }))
  .map(([path, offset, digit]): Corruption => ({
    name: "another digit",
    corrupt: (reply) =>
      JSON.stringify(
        updateAt(reply, path, (value) => {
          if (typeof value !== "string" || !/^0x[0-9a-f]{2}/.test(value)) return value;
          const index = 2 + (offset % (value.length - 2));
          return `${value.slice(0, index)}${digit.toString(16)}${value.slice(index + 1)}`;
        }),
      ),
  }));

/** Responses that could be true, but with a different amount, block or account. */
export const plausibleResponse: fc.Arbitrary<Corruption> = fc.oneof(changedAmounts, changedDigit);

/**
 * Sets a value at a position in a tree. Each step of the path selects one of the children at that
 * level.
 */
const setAt = (tree: unknown, path: readonly number[], value: unknown): unknown =>
  updateAt(tree, path, () => value);

const updateAt = (
  tree: unknown,
  [step, ...remainingSteps]: readonly number[],
  update: (value: unknown) => unknown,
): unknown => {
  if (step === undefined || typeof tree !== "object" || tree === null) return update(tree);
  const keys = Object.keys(tree);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return update(tree);
  const child: unknown = Reflect.get(tree, key);
  const changed = updateAt(child, remainingSteps, update);
  if (Array.isArray(tree))
    return tree.map((item: unknown, index) => (String(index) === key ? changed : item));
  return { ...tree, [key]: changed };
};

/** Changes the lists at some depth. The list of replies to a batch is also changed. */
const changeLists = (tree: unknown, depth: number, mode: string): unknown => {
  if (Array.isArray(tree)) {
    const items: unknown[] = tree.map((item) => changeLists(item, depth - 1, mode));
    if (depth % 4 !== 0) return items;
    if (mode === "twice") return [...items, ...items];
    if (mode === "backwards") return items.toReversed();
    return mode === "empty" ? [] : items.slice(0, items.length / 2);
  }
  if (typeof tree !== "object" || tree === null) return tree;
  const entries = Object.entries(tree);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, changeLists(value, depth - 1, mode)]),
  );
};
