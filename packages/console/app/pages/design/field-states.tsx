import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card } from "../../ui/page.tsx";
import { Segmented } from "../../ui/segmented.tsx";

const periods = [
  { value: "7", text: "7 days" },
  { value: "30", text: "30 days" },
  { value: "90", text: "90 days" },
] as const;

export const FieldStates = () => {
  const [period, setPeriod] = useState<(typeof periods)[number]["value"]>("30");
  return (
    <Card title="Fields">
      <Segmented label="Period" options={periods} value={period} onValueChange={setPeriod} />
      <Form
        label="Sample"
        submitLabel="Save"
        cancelButton={<Button>Cancel</Button>}
        onSubmit={async () => undefined}
      >
        <Field name="name" label="Name" hint="Only you see this." defaultValue="Order 1001" />
        <Field
          name="amount"
          label="Amount"
          defaultValue="twelve"
          errorMessage="Enter an amount, such as 12.50."
        />
        <Select label="Token" name="token" options={[{ value: "usdc", text: "USDC on Base" }]} />
        <Field name="note" label="Note" rows={2} />
        <Checkbox label="Limit the number of payments" name="limited" defaultChecked />
        <Checkbox label="Notify by webhook" name="notify" />
      </Form>
    </Card>
  );
};
