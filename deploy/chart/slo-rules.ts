import { stringify } from "yaml";
import { type Slo, type Window, outboxLate, slos, windowMinutes } from "./slos.ts";

type Recorded = { record: string; expr: string; labels?: Record<string, string> };
type Alert = {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
};
type Rule = Recorded | Alert;
type RuleFile = { groups: { name: string; interval?: string; rules: Rule[] }[] };

/**
 * A pace at which a budget of 30 days burns too fast: over the long window, and still in the short
 * one.
 */
type Burn = {
  severity: "page" | "ticket";
  factor: number;
  long: Window;
  short: Window;
  for: string;
};

export const burns: readonly Burn[] = [
  { severity: "page", factor: 14.4, long: "1h", short: "5m", for: "2m" },
  { severity: "page", factor: 6, long: "6h", short: "30m", for: "15m" },
  { severity: "ticket", factor: 3, long: "1d", short: "2h", for: "1h" },
  { severity: "ticket", factor: 1, long: "3d", short: "6h", for: "3h" },
];

const windows = Object.keys(windowMinutes) as Window[];

/** The rules of all objectives: the recorded ratios, and the alerts that read them. */
const sloRules = (): RuleFile => ({
  groups: [
    { name: "payment-links-slo", rules: [outboxLate, ...slos.flatMap(recordsOf)] },
    { name: "payment-links-slo-alerts", rules: slos.flatMap(alertsOf) },
  ],
});

/** The file as it is committed. */
export const sloRulesText = (): string =>
  `# Made by \`npm run generate\` of deploy/chart/slos.ts: change it there.\n` +
  stringify(sloRules(), { lineWidth: 0, aliasDuplicateObjects: false });

export const ratioOf = (window: Window) => `payment_links:slo_bad:ratio_rate${window}`;
export const countOf = (window: Window) => `payment_links:slo_bad:increase${window}`;

const recordsOf = ({ name, badRatio, badCount }: Slo): Recorded[] => {
  const labels = { slo: name };
  return [
    ...windows.map((window) => ({ record: ratioOf(window), expr: badRatio(window), labels })),
    ...burns.map(({ long }) => ({ record: countOf(long), expr: badCount(long), labels })),
  ];
};

const alertsOf = (slo: Slo): Alert[] =>
  burns.map(({ severity, factor, long, short, for: lasting }) => {
    const bound = Number((factor * (1 - slo.objective)).toFixed(6));
    const label = `{slo="${slo.name}"}`;
    return {
      alert: slo.alert,
      expr: [
        `${ratioOf(long)}${label} > ${bound}`,
        `${ratioOf(short)}${label} > ${bound}`,
        `${countOf(long)}${label} >= ${slo.badCountMin}`,
      ].join(" and "),
      for: lasting,
      labels: { severity, long, short },
      annotations: {
        summary: `The budget of ${slo.name} burns ${factor} times too fast`,
        description:
          `Promised: ${slo.promise}, ${100 * slo.objective} % of 30 days. Over ${long}, ` +
          "{{ $value | humanizePercentage }} was bad.",
      },
    };
  });
