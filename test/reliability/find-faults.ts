// Finds code in the syntax tree of a test file that makes the test fail on a busy machine. Each
// finder yields the faults for one rule of `lint-plugin.ts`. The finders only know names and not
// types, so they do not detect a delay in a function of another module. For this reason, the rules
// also apply to the test helpers.

/** A node of the syntax tree, in ESTree format. */
export type Node = { type: string; [key: string]: unknown };
type Problem = { node: Node; message: string };
export type Finder = (program: Node) => Iterable<Problem>;

/** The minimum timeout of a wait in a test, in milliseconds. */
const limitMsMin = 60_000;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** A node and its ancestors, starting with the nearest. */
type VisitedNode = readonly [node: Node, above: readonly Node[]];

/** Caches the visited nodes, because every rule walks the same trees. */
const visitsByRoot = new WeakMap<Node, readonly VisitedNode[]>();

/** Returns the given node and each node below it. */
const walk = (root: Node): readonly VisitedNode[] => {
  const cachedVisits = visitsByRoot.get(root);
  if (cachedVisits !== undefined) return cachedVisits;
  const visits: VisitedNode[] = [];
  const visit = (node: Node, ancestors: readonly Node[]): void => {
    visits.push([node, ancestors]);
    const path = [node, ...ancestors];
    for (const key in node) {
      if (key === "parent") continue;
      const value = node[key];
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) visit(child, path);
    }
  };
  visit(root, []);
  visitsByRoot.set(root, visits);
  return visits;
};

const childNode = (node: Node | undefined, key: string): Node | undefined => {
  const value = node?.[key];
  return isNode(value) ? value : undefined;
};

const childNodes = (node: Node, key: string): Node[] => {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
};

/** Returns the last name of `a`, `b.a` or `b["a"]`. */
const getName = (node: Node | undefined): string | undefined => {
  if (node?.type === "Identifier") return String(node["name"]);
  if (node?.type === "Literal") return String(node["value"]);
  if (node?.type === "MemberExpression") return getName(childNode(node, "property"));
  if (node?.type === "ChainExpression") return getName(childNode(node, "expression"));
  return undefined;
};

const getObjectName = (node: Node | undefined): string | undefined =>
  node?.type === "MemberExpression" ? getName(childNode(node, "object")) : undefined;

const getCallee = (node: Node): Node | undefined =>
  node.type === "CallExpression" || node.type === "NewExpression"
    ? childNode(node, "callee")
    : undefined;

const getArguments = (node: Node): Node[] => childNodes(node, "arguments");

const listCalls = function* (program: Node): Iterable<[Node, string, readonly Node[]]> {
  for (const [node, ancestors] of walk(program)) {
    const name = node.type === "CallExpression" ? getName(getCallee(node)) : undefined;
    if (name !== undefined) yield [node, name, ancestors];
  }
};

/** Matches `performance.now()`, `Date.now()`, `process.hrtime()` and `process.hrtime.bigint()`. */
const isClockRead = (node: Node): boolean => {
  const callee = getCallee(node);
  const [object, name] = [getObjectName(callee), getName(callee)];
  if (name === "now") return object === "performance" || object === "Date";
  return name === "hrtime" || object === "hrtime";
};

const readsClock = (node: Node | undefined): boolean =>
  node !== undefined && walk(node).some(([visitedNode]) => isClockRead(visitedNode));

/** Yields the texts of a file: string literals, and the fixed parts of templates joined by `${}`. */
const listTexts = function* (program: Node): Iterable<[Node, string]> {
  for (const [node] of walk(program)) {
    if (node.type === "Literal" && typeof node["value"] === "string") yield [node, node["value"]];
    if (node.type !== "TemplateLiteral") continue;
    const parts = childNodes(node, "quasis").map(({ value }) =>
      typeof value === "object" && value !== null && "cooked" in value ? String(value.cooked) : "",
    );
    yield [node, parts.join("${}")];
  }
};

/** Returns the names and values of a file's numeric constants. */
const collectNumbers = (program: Node): ReadonlyMap<string, number> => {
  const numbers = new Map<string, number>();
  for (const [node, ancestors] of walk(program)) {
    if (node.type !== "VariableDeclarator" || ancestors[0]?.["kind"] !== "const") continue;
    const [name, value] = [
      getName(childNode(node, "id")),
      evaluateNumber(childNode(node, "init"), numbers),
    ];
    if (name !== undefined && value !== undefined) numbers.set(name, value);
  }
  return numbers;
};

/**
 * Returns the number that an expression evaluates to, or undefined if it is not known statically.
 */
const evaluateNumber = (
  node: Node | undefined,
  numbers: ReadonlyMap<string, number>,
): number | undefined => {
  if (node?.type === "Literal")
    return typeof node["value"] === "number" ? node["value"] : undefined;
  if (node?.type === "Identifier") return numbers.get(String(node["name"]));
  if (node?.type !== "BinaryExpression") return undefined;
  const left = evaluateNumber(childNode(node, "left"), numbers);
  const right = evaluateNumber(childNode(node, "right"), numbers);
  if (left === undefined || right === undefined) return undefined;
  const { operator } = node;
  if (operator === "*") return left * right;
  if (operator === "+") return left + right;
  return operator === "-" ? left - right : undefined;
};

const waitFunctions = new Set(["waitUntil", "eventually"]);

const waitMessage =
  "A fixed wait fails on a busy machine. Use waitUntil to wait for a condition. If the delay is the test's input, use injectDelay of runtime/testing/inject-delay.";

/** A `setTimeout` that the same file clears is a timeout and not a wait. */
const isCleared = (ancestors: readonly Node[], clearedNames: ReadonlySet<string>): boolean => {
  const [parent] = ancestors;
  if (parent?.type === "VariableDeclarator")
    return clearedNames.has(getName(childNode(parent, "id")) ?? "");
  if (parent?.type !== "AssignmentExpression") return false;
  return clearedNames.has(getName(childNode(parent, "left")) ?? "");
};

const collectClearedNames = (program: Node): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const [node, name] of listCalls(program)) {
    if (name === "clearTimeout") names.add(getName(getArguments(node)[0]) ?? "");
  }
  return names;
};

/** Reports fixed delays. After a fixed delay, a test continues without checking a condition. */
export const findFixedWaits: Finder = function* (program) {
  const clearedNames = collectClearedNames(program);
  for (const [node] of walk(program)) {
    const isTimers = /^(node:)?timers\/promises$/.test(getName(childNode(node, "source")) ?? "");
    if (node.type !== "ImportDeclaration" || !isTimers) continue;
    for (const specifier of childNodes(node, "specifiers")) {
      const name = getName(childNode(specifier, "imported"));
      if (name !== "setImmediate") yield { node: specifier, message: waitMessage };
    }
  }
  for (const [node, name, ancestors] of listCalls(program)) {
    const isWait =
      name === "waitForTimeout" ||
      (name === "sleepUntil" && getObjectName(getCallee(node)) === "systemClock") ||
      (name === "setTimeout" && !isCleared(ancestors, clearedNames));
    if (isWait) yield { node, message: waitMessage };
    if (waitFunctions.has(name) && getArguments(node).some((argument) => readsClock(argument))) {
      yield { node, message: waitMessage };
    }
  }
  for (const [node] of walk(program)) {
    const isLoop = node.type === "WhileStatement" || node.type === "DoWhileStatement";
    if (isLoop && readsClock(childNode(node, "test"))) yield { node, message: waitMessage };
  }
  for (const [node, text] of listTexts(program)) {
    for (const [, seconds = ""] of text.matchAll(/pg_sleep\(\s*([\d.]*)/gi)) {
      // A statement that lasts for an hour represents a statement that never ends.
      if (!(Number(seconds) >= 3_600)) yield { node, message: sleepMessage };
    }
  }
};

const sleepMessage =
  "A short pg_sleep is a fixed wait. Let the statement wait for a lock that the test releases, or for pg_sleep(3600) that the test cancels.";

const upperBounds = new Set([
  "toBe",
  "toBeCloseTo",
  "toBeLessThan",
  "toBeLessThanOrEqual",
  "toEqual",
  "toStrictEqual",
]);

/**
 * Reports upper bounds on elapsed time. Lower bounds are allowed, because they also hold on a slow
 * machine.
 */
export const findSpeedComparisons: Finder = function* (program) {
  const knownNames = collectKnownNames(program);
  for (const [node, name] of listCalls(program)) {
    if (!upperBounds.has(name)) continue;
    const [expectedValue] = getArguments(node);
    const isGenerous =
      expectedValue !== undefined && getName(getCallee(expectedValue)) === "hangLimitMs";
    const comparedNode = findComparedNode(node);
    if (isGenerous || comparedNode === undefined || !isDuration(comparedNode, knownNames)) continue;
    yield {
      node,
      message:
        "A duration proves nothing on a busy machine. Expect a count or an order. To detect only a hang, use hangLimitMs of runtime/testing/time-limits. To measure a cost, use measureCpuMs.",
    };
  }
};

/** Returns the argument of `expect` in `expect(…).not.toBe(…)`. */
const findComparedNode = (node: Node): Node | undefined => {
  let callee = getCallee(node);
  while (callee?.type === "MemberExpression") {
    const object = childNode(callee, "object");
    if (object?.type !== "CallExpression") callee = object;
    else return getName(getCallee(object)) === "expect" ? getArguments(object)[0] : undefined;
  }
  return undefined;
};

/**
 * Returns true for the difference between a time that was read from the clock and a value that is
 * not a numeric literal.
 */
const isClockDifference = (node: Node, instants: ReadonlySet<string>): boolean => {
  if (node.type !== "BinaryExpression" || node["operator"] !== "-") return false;
  const sides = [childNode(node, "left"), childNode(node, "right")];
  const isInstant = (side: Node | undefined) =>
    side !== undefined && (isClockRead(side) || instants.has(getName(side) ?? ""));
  return sides.some(isInstant) && !sides.some((side) => side?.type === "Literal");
};

type KnownNames = { instants: ReadonlySet<string>; durations: ReadonlySet<string> };

/**
 * Returns true for a duration: a difference between two times, a name for it, or a value that is
 * computed from it.
 */
const isDuration = (node: Node | undefined, knownNames: KnownNames): boolean => {
  if (node === undefined) return false;
  if (isClockDifference(node, knownNames.instants)) return true;
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    return knownNames.durations.has(getName(node) ?? "");
  }
  if (node.type === "BinaryExpression") {
    return (
      isDuration(childNode(node, "left"), knownNames) ||
      isDuration(childNode(node, "right"), knownNames)
    );
  }
  const isMath = getObjectName(getCallee(node)) === "Math";
  return isMath && getArguments(node).some((argument) => isDuration(argument, knownNames));
};

/** Returns the names that a file gives to times and durations, directly or through other names. */
const collectKnownNames = (program: Node): KnownNames => {
  const namedValues = walk(program).flatMap(([node]) => listNamedValues(node));
  const instants = new Set<string>();
  for (const [name, value] of namedValues) if (isClockRead(value)) instants.add(name);
  const durations = new Set<string>();
  for (let sizeBefore = -1; sizeBefore < durations.size;) {
    sizeBefore = durations.size;
    for (const [name, value] of namedValues) {
      if (isDuration(value, { instants, durations })) durations.add(name);
    }
  }
  return { instants, durations };
};

const namedValueKeys: Record<string, [string, string]> = {
  VariableDeclarator: ["id", "init"],
  AssignmentExpression: ["left", "right"],
  Property: ["key", "value"],
};

/** Returns the names that a node assigns to values. */
const listNamedValues = (node: Node): [string, Node][] => {
  const [nameKey, valueKey] = namedValueKeys[node.type] ?? ["", ""];
  const [name, value] = [getName(childNode(node, nameKey)), childNode(node, valueKey)];
  return name === undefined || value === undefined ? [] : [[name, value]];
};

const limitMessage =
  "A busy machine takes ten times as long as an idle one. Remove the limit, or set at least 60 s.";
const timeoutMessage =
  "This timeout of the product expires on a slow machine. Use ampleTimeoutMs of runtime/testing/time-limits. If the test expects it to expire, use provokedTimeoutMs.";

const tests = new Set(["test", "it"]);
const hooks = new Set(["beforeAll", "beforeEach", "afterAll", "afterEach"]);

/**
 * Returns the name of the called function without modifiers, for example "test" for `test(…)`,
 * `test.skip(…)` and `test.each(…)(…)`.
 */
const getJestName = (node: Node): string | undefined => {
  let callee = getCallee(node);
  while (callee !== undefined && callee.type !== "Identifier") {
    callee = callee.type === "MemberExpression" ? childNode(callee, "object") : getCallee(callee);
  }
  return getName(callee);
};

const libraryTimeouts = /^(timeout|bodyTimeout|headersTimeout|connectTimeout|handshakeTimeout)$/;
const productTimeouts = /^(timeoutMs|\w+TimeoutMs|failoverMsMax|responseMsMax|silenceMsMax)$/;

/** Jest's global timeout for a test (`testTimeout`). Tests must not set a lower one. */
const testMsMin = 300_000;

/** Reports timeouts that expire on a busy machine although the code is correct. */
export const findShortLimits: Finder = function* (program) {
  const numbers = collectNumbers(program);
  const isShort = (node: Node | undefined, msMin = limitMsMin) => {
    const value = evaluateNumber(node, numbers);
    return value !== undefined && value > 0 && value < msMin;
  };
  const clearedNames = collectClearedNames(program);
  for (const [node] of walk(program)) {
    if (node.type !== "CallExpression") continue;
    const [name, callArguments] = [getName(getCallee(node)), getArguments(node)];
    const jestName = getJestName(node) ?? "";
    const limit =
      (waitFunctions.has(name ?? "") && callArguments[2]) ||
      (hooks.has(jestName) && callArguments[1]) ||
      (/^setDefault(Navigation)?Timeout$/.test(name ?? "") && callArguments[0]) ||
      (name === "timeout" && getObjectName(getCallee(node)) === "AbortSignal" && callArguments[0]);
    if (limit && isShort(limit)) yield { node: limit, message: limitMessage };
    const testLimit = tests.has(jestName) ? callArguments[2] : undefined;
    if (testLimit && isShort(testLimit, testMsMin))
      yield { node: testLimit, message: limitMessage };
  }
  for (const [node, name, ancestors] of listCalls(program)) {
    const isLimit = name === "setTimeout" && isCleared(ancestors, clearedNames);
    if (isLimit && isShort(getArguments(node)[1])) yield { node, message: limitMessage };
  }
  for (const [node, ancestors] of walk(program)) {
    if (node.type !== "Property" || !isShort(childNode(node, "value"))) continue;
    const name = getName(childNode(node, "key")) ?? "";
    // An object that is only compared does not set a timeout.
    const isExpected = ancestors.some((ancestor) => findComparedNode(ancestor) !== undefined);
    if (isExpected) continue;
    const isProvoked = getName(childNode(node, "value"))?.startsWith("provoked") ?? false;
    if (productTimeouts.test(name) && !isProvoked) yield { node, message: timeoutMessage };
    const isCallOption =
      ancestors[0]?.type === "ObjectExpression" && ancestors[1]?.type === "CallExpression";
    if (libraryTimeouts.test(name) && isCallOption) yield { node, message: limitMessage };
  }
};

/** Reports resources that two test files would share when they run in parallel. */
export const findSharedResources: Finder = function* (program) {
  const fixedPort = "A fixed port may be in use. Listen on port 0, or use findFreePorts.";
  for (const [node, ancestors] of walk(program)) {
    if (node.type === "Property" && getName(childNode(node, "key")) === "redisDatabase") {
      yield {
        node,
        message: "2 tests may choose the same database. Use claimRedisDatabase.",
      };
    }
    if (getName(getCallee(node)) === "getTestRedisUrl") {
      yield { node, message: "All test files share this database. Use claimRedisDatabase." };
    }
    if (getName(getCallee(node)) === "tmpdir" && isPath(ancestors) && !isForOwnFolder(ancestors)) {
      yield {
        node,
        message: "Another run may use the same file. Create a folder with mkdtemp first.",
      };
    }
  }
  for (const [node, name] of listCalls(program)) {
    if (name !== "listen") continue;
    const [firstArgument] = getArguments(node);
    const port =
      firstArgument?.type === "ObjectExpression"
        ? childNode(
            childNodes(firstArgument, "properties").find(
              (property) => getName(childNode(property, "key")) === "port",
            ),
            "value",
          )
        : firstArgument;
    if (port?.type === "Literal" && Number(port["value"]) > 0) yield { node, message: fixedPort };
  }
  for (const [node, text] of listTexts(program)) {
    if (/^rediss?:\/\/.*\/\d+$/.test(text)) {
      yield {
        node,
        message: "2 tests may choose the same database. Use claimRedisDatabase.",
      };
    }
    if (/\bCREATE (ROLE|USER|DATABASE) (?!\$\{\})\w/i.test(text)) {
      yield {
        node,
        message: "Roles and databases are shared by the whole server. Use a random name.",
      };
    }
  }
};

/** Returns true for a path below the temporary directory: `join(tmpdir(), …)` or `${tmpdir()}/…`. */
const isPath = ([parent]: readonly Node[]): boolean =>
  getName(parent && getCallee(parent)) === "join" || parent?.type === "TemplateLiteral";

const isForOwnFolder = (ancestors: readonly Node[]): boolean =>
  ancestors.some((node) => /^mkdtemp(Sync)?$/.test(getName(getCallee(node)) ?? ""));
