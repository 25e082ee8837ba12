import { expect, test } from "@jest/globals";
import { formatJson } from "./format-json.ts";

test("JSON gets line breaks, and any other text stays unchanged", () => {
  expect(formatJson('{"id":"evt_1","data":{"amount":"25"}}')).toBe(
    '{\n  "id": "evt_1",\n  "data": {\n    "amount": "25"\n  }\n}',
  );
  expect(formatJson("not JSON")).toBe("not JSON");
});
