import { type Room, packages, serviceRooms } from "./rooms.ts";

/** The README with its pictures of the table of rooms drawn again. */
export const withArrowsChart = (readme: string): string =>
  readme.replace(
    /(<!-- arrows -->\n)[^]*(<!-- \/arrows -->)/,
    (_all, begin: string, end: string) => `${begin}${arrowsChart()}\n${end}`,
  );

/** The whole repository, and the inside of a service. */
const arrowsChart = (): string =>
  [
    "```mermaid",
    "flowchart TD",
    ...arrowsOf({ ...packages, services: { packages: packagesOfServices() } }, "packages"),
    "  deploy --> services",
    "```",
    "",
    "```mermaid",
    "flowchart TD",
    ...Object.entries(serviceRooms).map(labelOf),
    ...arrowsOf(serviceRooms, "rooms"),
    "```",
  ].join("\n");

const packagesOfServices = () =>
  Object.keys(packages)
    .filter((name) =>
      Object.values(serviceRooms).some((room) => namesOf(room, "packages").includes(name)),
    )
    .join(" ");

const labelOf = ([name, room]: [string, Room]) =>
  `  ${name}["<b>${name}</b><br/>${namesOf(room, "packages").join(", ") || "&nbsp;"}"]`;

/** Drawn from the top down, without arrows that a longer way already implies. */
const arrowsOf = (table: Record<string, Room>, kind: keyof Room): string[] =>
  Object.keys(table)
    .toReversed()
    .flatMap((from) => {
      const next = namesOf(table[from], kind);
      const beyond = new Set(next.flatMap((name) => [...reach(table, kind, name)]));
      const drawn = next.filter((name) => !beyond.has(name));
      return drawn.length === 0 ? [] : [`  ${from} --> ${drawn.join(" & ")}`];
    });

const reach = (table: Record<string, Room>, kind: keyof Room, from: string): Set<string> =>
  new Set(namesOf(table[from], kind).flatMap((name) => [name, ...reach(table, kind, name)]));

const namesOf = (room: Room | undefined, kind: keyof Room): string[] =>
  room?.[kind]?.split(" ") ?? [];
