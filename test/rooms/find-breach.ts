import { posix } from "node:path";
import { type Room, keepers, packages, serviceRooms } from "./rooms.ts";

/**
 * Why the file at `path`, seen from the root, may not import `specifier`; undefined where it may.
 * Tests and `testing` folders import what they need, and nothing else imports them.
 */
export const findBreach = (path: string, specifier: string): string | undefined => {
  const from = placeOf(path);
  if (from.isTest) return undefined;
  if (specifier.startsWith(".")) {
    return findBreachInside(from, placeOf(posix.join(path, "..", specifier)));
  }
  const [scope, name = "", ...way] = specifier.split("/");
  if (scope !== "@payment-links") return findLibraryBreach(from, specifier);
  if (from.workspace === "deploy") return undefined;
  return way.length > 0 ? byTheSide : refuseUnlessNamed(from, "packages", name);
};

const byTheSide = "A package is entered by its index alone.";

const placeOf = (path: string) => {
  const [kind = "", name = "", , entry = ""] = path.split("/");
  const isTest = kind === "test" || /\.(test|contract)\.ts$|\/testing(\/|\.ts$)/.test(path);
  if (kind === "services") {
    const room = entry.replace(/\.\w+$/, "");
    return { workspace: `services/${name}`, room, rules: serviceRooms[room], isTest };
  }
  if (kind !== "packages") return { workspace: kind, room: kind, rules: undefined, isTest };
  const room = `packages/${name}`;
  return { workspace: room, room, rules: packages[name], isTest };
};

type Place = ReturnType<typeof placeOf>;

const findBreachInside = (from: Place, to: Place): string | undefined => {
  if (to.isTest) return "Only tests see what is made for tests.";
  if (to.workspace !== from.workspace) return byTheSide;
  return to.room === from.room ? undefined : refuseUnlessNamed(from, "rooms", to.room);
};

const findLibraryBreach = (from: Place, library: string): string | undefined => {
  if (from.rules?.libraries !== undefined) return refuseUnlessNamed(from, "libraries", library);
  const kept = Object.keys(keepers).find((name) => isNamed(library, name));
  if (kept === undefined || isNamed(from.room, keepers[kept])) return undefined;
  return `${kept} is for ${keepers[kept]} alone.`;
};

const refuseUnlessNamed = ({ room, rules }: Place, kind: keyof Room, name: string) =>
  isNamed(name, rules?.[kind])
    ? undefined
    : `${room} may not import ${name}, only these ${kind}: ${rules?.[kind] ?? "none"}.`;

/** A path into a library counts as the library. */
const isNamed = (name: string, names = ""): boolean =>
  names.split(" ").some((one) => name === one || name.startsWith(`${one}/`));
