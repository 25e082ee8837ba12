import type { ApiKeyData } from "../../api/operations.ts";
import { Field } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

type Limits = Pick<ApiKeyData, "requestsPerMinute" | "burst">;

/** The form fields of a key's rate limit. */
export const LimitFields = ({ requestsPerMinute, burst }: Limits) => (
  <>
    <Field
      name="requestsPerMinute"
      label={texts.requestsPerMinute}
      type="number"
      defaultValue={String(requestsPerMinute ?? "")}
      inputProps={{ min: 1 }}
    />
    <Field
      name="burst"
      label={texts.burst}
      type="number"
      defaultValue={String(burst ?? "")}
      inputProps={{ min: 1 }}
    />
  </>
);

/** Parses the rate limit fields. Returns null if the key has no limit of its own. */
export const parseLimits = (fields: Readonly<Record<string, string>>): Limits => ({
  requestsPerMinute: parseNumber(fields["requestsPerMinute"]),
  burst: parseNumber(fields["burst"]),
});

const parseNumber = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text);
