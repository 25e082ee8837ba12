import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { sessionKey, useCall } from "../../api/query.ts";
import type { OwnAccount } from "../../api/operations.ts";
import { Check, Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./account.module.css";
import { type ProfileFields, linesOf, readProfile, showProfile } from "./read-profile.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.profile;
const colourUsual = "#1f4fd8";

/** The public profile, and beside it what a payer sees of it. */
const Profile = () => {
  const account = useCall("getAccount", {});
  return <Loaded query={account}>{(data) => <ProfileForm key={data.id} account={data} />}</Loaded>;
};
export default Profile;

const ProfileForm = ({ account }: { account: OwnAccount }) => {
  const client = useQueryClient();
  const [fields, setFields] = useState(() => showProfile(account));
  const [isSaved, setSaved] = useState(false);
  const field = (name: keyof ProfileFields) => ({
    name,
    label: texts[name],
    value: fields[name],
    onChange: (value: string) => {
      setFields((now) => ({ ...now, [name]: value }));
      setSaved(false);
    },
  });
  const save = async (): Promise<void> => {
    const changed = await call("changeAccount", { body: readProfile(fields, account) });
    client.setQueryData(["getAccount", {}], changed);
    client.setQueryData(sessionKey, changed);
    setFields(showProfile(changed));
    setSaved(true);
  };
  const { onChange: setColour } = field("backgroundColour");
  return (
    <div className={styles["sides"]}>
      <Card title={allTexts.parts.profile}>
        <Form submit={texts.save} onSubmit={save}>
          <Field
            {...field("handle")}
            hint={texts.handleHint}
            isRequired={account.handle !== null}
          />
          <Field {...field("username")} isRequired maxLength={100} />
          <Field {...field("bio")} rows={3} maxLength={500} />
          <Field {...field("profileImage")} hint={texts.imageHint} input={{ inputMode: "url" }} />
          <Field {...field("backgroundImage")} input={{ inputMode: "url" }} />
          <Check
            label={texts.colourNone}
            checked={fields.backgroundColour === ""}
            onTurn={(isOn) => setColour(isOn ? "" : colourUsual)}
          />
          {fields.backgroundColour !== "" && (
            <Field {...field("backgroundColour")} input={{ type: "color" }} />
          )}
          <Field {...field("links")} hint={texts.linksHint} rows={3} />
          {isSaved && <Notice tone="good">{texts.saved}</Notice>}
        </Form>
      </Card>
      <Card title={texts.preview}>
        <Preview fields={fields} />
      </Card>
    </div>
  );
};

const Preview = ({ fields }: { fields: ProfileFields }) => (
  <>
    <div
      className={styles["preview"]}
      style={
        fields.backgroundColour === "" ? {} : { borderBlockStartColor: fields.backgroundColour }
      }
    >
      <strong>
        <bdi>{fields.username}</bdi>
      </strong>
      <span className={uiStyles["quiet"]}>
        {fields.handle === "" ? texts.noHandle : `@${fields.handle}`}
      </span>
      {fields.bio !== "" && (
        <p>
          <bdi>{fields.bio}</bdi>
        </p>
      )}
      <ul>
        {linesOf(fields.links).map((link) => (
          <li key={link}>
            <bdi>{link}</bdi>
          </li>
        ))}
      </ul>
    </div>
    <p className={`${uiStyles["quiet"]} ${uiStyles["small"]}`}>{texts.previewHint}</p>
  </>
);
