import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { callOperation } from "../../api/call.ts";
import { sessionKey, useOperationQuery } from "../../api/query.ts";
import type { OwnAccount } from "../../api/operations.ts";
import { Checkbox, Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./account.module.css";
import {
  type ProfileFields,
  findPicturePath,
  getProfileChanges,
  splitLines,
  toProfileFields,
} from "./profile-fields.ts";
import { type ChosenPicture, PictureField, Portrait } from "./profile-picture.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.profile;
const defaultColour = "#1f4fd8";

/** The public profile form, next to a preview of what payers see. */
const Profile = () => {
  const account = useOperationQuery("getAccount", {});
  return (
    <QueryView query={account}>{(data) => <ProfileForm key={data.id} account={data} />}</QueryView>
  );
};
export default Profile;

/** The state of the form. The picture is uploaded after the other changes are saved. */
const useProfileForm = (account: OwnAccount) => {
  const client = useQueryClient();
  const [fields, setFields] = useState(() => toProfileFields(account));
  const [picture, setPicture] = useState<ChosenPicture>();
  const [isSaved, setSaved] = useState(false);
  const field = (name: keyof ProfileFields) => ({
    name,
    label: texts[name],
    value: fields[name],
    onChange: (value: string) => {
      setFields((previousFields) => ({ ...previousFields, [name]: value }));
      setSaved(false);
    },
  });
  const showAccount = (updatedAccount: OwnAccount): void => {
    client.setQueryData(["getAccount", {}], updatedAccount);
    client.setQueryData(sessionKey, updatedAccount);
    setFields(toProfileFields(updatedAccount));
  };
  const save = async (): Promise<void> => {
    showAccount(await callOperation("changeAccount", { body: getProfileChanges(fields, account) }));
    if (picture !== undefined) {
      showAccount(await callOperation("uploadProfilePicture", { body: picture.file }));
      setPicture(undefined);
    }
    setSaved(true);
  };
  const choosePicture = (chosenPicture: ChosenPicture | undefined): void => {
    setPicture(chosenPicture);
    field("profileImage").onChange(chosenPicture === undefined ? "" : (account.profileImage ?? ""));
  };
  return { choosePicture, field, fields, isSaved, picture, save };
};

const ProfileForm = ({ account }: { account: OwnAccount }) => {
  const { choosePicture, field, fields, isSaved, picture, save } = useProfileForm(account);
  const { onChange: setColour } = field("backgroundColour");
  const { profileImage: imageUrl, username } = fields;
  const portraitProps = { chosenPicture: picture, imageUrl, username };
  const hasUploadedImage = picture !== undefined || findPicturePath(imageUrl) !== undefined;
  return (
    <div className={styles["sides"]}>
      <Card title={allTexts.sections.profile}>
        <Form submitLabel={texts.save} onSubmit={save}>
          <Field
            {...field("handle")}
            hint={texts.handleHint}
            isRequired={account.handle !== null}
          />
          <Field {...field("username")} isRequired maxLength={100} />
          <Field {...field("bio")} rows={3} maxLength={500} />
          <PictureField {...portraitProps} onChoose={choosePicture} />
          {!hasUploadedImage && (
            <Field
              {...field("profileImage")}
              hint={texts.imageHint}
              inputProps={{ inputMode: "url" }}
            />
          )}
          <Field {...field("backgroundImage")} inputProps={{ inputMode: "url" }} />
          <Checkbox
            label={texts.noColour}
            checked={fields.backgroundColour === ""}
            onCheckedChange={(isChecked) => setColour(isChecked ? "" : defaultColour)}
          />
          {fields.backgroundColour !== "" && (
            <Field {...field("backgroundColour")} inputProps={{ type: "color" }} />
          )}
          <Field {...field("links")} hint={texts.linksHint} rows={3} />
          <Field
            {...field("returnUrl")}
            hint={texts.returnUrlHint}
            inputProps={{ inputMode: "url" }}
          />
          {isSaved && <Notice tone="good">{texts.saved}</Notice>}
        </Form>
      </Card>
      <div className={styles["previewCard"]}>
        <Card title={texts.preview}>
          <Preview
            fields={fields}
            portrait={<Portrait {...portraitProps} className={styles["previewAvatar"]} />}
          />
        </Card>
      </div>
    </div>
  );
};

const Preview = ({ fields, portrait }: { fields: ProfileFields; portrait: ReactNode }) => (
  <>
    <div className={styles["preview"]}>
      <div
        className={styles["banner"]}
        style={fields.backgroundColour === "" ? {} : { background: fields.backgroundColour }}
      />
      {portrait}
      <strong className={styles["previewName"]}>
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
        {splitLines(fields.links).map((link) => (
          <li key={link}>
            <bdi>{link}</bdi>
          </li>
        ))}
      </ul>
    </div>
    <p className={`${uiStyles["quiet"]} ${uiStyles["small"]}`}>{texts.previewHint}</p>
  </>
);
