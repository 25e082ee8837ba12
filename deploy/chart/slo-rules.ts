import { stringify } from "yaml";
import { type Slo, type Window, outboxLateRule, slos, windowMinutes } from "./slos.ts";

type RecordingRule = { record: string; expr: string; labels?: Record<string, string> };
type AlertingRule = {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
};
type Rule = RecordingRule | AlertingRule;
type RuleFile = { groups: { name: string; interval?: string; rules: Rule[] }[] };

/**
 * A rate at which a 30-day error budget burns too fast, over the long window and still in the short
 * window.
 */
type BurnRate = {
  severity: "page" | "ticket";
  factor: number;
  longWindow: Window;
  shortWindow: Window;
  for: string;
};

export const burnRates: readonly BurnRate[] = [
  { severity: "page", factor: 14.4, longWindow: "1h", shortWindow: "5m", for: "2m" },
  { severity: "page", factor: 6, longWindow: "6h", shortWindow: "30m", for: "15m" },
  { severity: "ticket", factor: 3, longWindow: "1d", shortWindow: "2h", for: "1h" },
  { severity: "ticket", factor: 1, longWindow: "3d", shortWindow: "6h", for: "3h" },
];

const sloWindows = Object.keys(windowMinutes) as Window[];

/** Returns the recording and alerting rules of all SLOs. */
const createSloRules = (): RuleFile => ({
  groups: [
    { name: "payment-links-slo", rules: [outboxLateRule, ...slos.flatMap(createRecordingRules)] },
    { name: "payment-links-slo-alerts", rules: slos.flatMap(createAlertingRules) },
  ],
});

/** Renders the rules as the committed YAML file. */
export const renderSloRules = (): string =>
  `# Made by \`npm run generate\` of deploy/chart/slos.ts: change it there.\n` +
  stringify(createSloRules(), { lineWidth: 0, aliasDuplicateObjects: false });

export const getRatioMetric = (window: Window) => `payment_links:slo_bad:ratio_rate${window}`;
export const getCountMetric = (window: Window) => `payment_links:slo_bad:increase${window}`;

const createRecordingRules = ({ name, badRatio, badCount }: Slo): RecordingRule[] => {
  const labels = { slo: name };
  return [
    ...sloWindows.map((window) => ({
      record: getRatioMetric(window),
      expr: badRatio(window),
      labels,
    })),
    ...burnRates.map(({ longWindow }) => ({
      record: getCountMetric(longWindow),
      expr: badCount(longWindow),
      labels,
    })),
  ];
};

const createAlertingRules = (slo: Slo): AlertingRule[] =>
  burnRates.map(({ severity, factor, longWindow, shortWindow, for: pendingDuration }) => {
    const threshold = Number((factor * (1 - slo.objective)).toFixed(6));
    const sloSelector = `{slo="${slo.name}"}`;
    return {
      alert: slo.alert,
      expr: [
        `${getRatioMetric(longWindow)}${sloSelector} > ${threshold}`,
        `${getRatioMetric(shortWindow)}${sloSelector} > ${threshold}`,
        `${getCountMetric(longWindow)}${sloSelector} >= ${slo.badCountMin}`,
      ].join(" and "),
      for: pendingDuration,
      labels: { severity, long: longWindow, short: shortWindow },
      annotations: {
        summary: `The budget of ${slo.name} burns ${factor} times too fast`,
        description:
          `Promised: ${slo.objectiveText}, ${100 * slo.objective} % of 30 days. Over ${longWindow}, ` +
          "{{ $value | humanizePercentage }} was bad.",
      },
    };
  });
