import { useContext, useId, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { FieldErrorsContext } from "../../ui/field-errors.ts";
import uiStyles from "../../ui/ui.module.css";
import styles from "./account.module.css";
import { findPicturePath, getInitial } from "./profile-fields.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.profile;
const pictureBytesMax = 2 * 1024 * 1024;
const previewSide = 256;

/** An image file that will be uploaded when the form is saved. */
export type ChosenPicture = { file: File; bitmap: ImageBitmap };

type PortraitProps = {
  chosenPicture: ChosenPicture | undefined;
  imageUrl: string;
  username: string;
  className: string | undefined;
};

/** The profile image as payers see it, or the first letter of the name. */
export const Portrait = ({ chosenPicture, imageUrl, username, className }: PortraitProps) => {
  const path = findPicturePath(imageUrl);
  return (
    <span className={`${styles["avatar"]} ${className}`} aria-hidden="true">
      {chosenPicture !== undefined && <PictureCanvas bitmap={chosenPicture.bitmap} />}
      {chosenPicture === undefined && path !== undefined && <img src={path} alt="" />}
      {chosenPicture === undefined && path === undefined && getInitial(username)}
    </span>
  );
};

/** Draws the square in the middle. The content security policy allows no URL for the file. */
const PictureCanvas = ({ bitmap }: { bitmap: ImageBitmap }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const side = Math.min(bitmap.width, bitmap.height);
    const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
    const context = canvas.current?.getContext("2d");
    context?.clearRect(0, 0, previewSide, previewSide);
    context?.drawImage(bitmap, left, top, side, side, 0, 0, previewSide, previewSide);
  }, [bitmap]);
  return <canvas ref={canvas} width={previewSide} height={previewSide} />;
};

type PictureFieldProps = Omit<PortraitProps, "className"> & {
  /** Called with the chosen picture, or without one when the image is removed. */
  onChoose: (picture: ChosenPicture | undefined) => void;
};

/** Chooses an image file, or removes the profile image. */
export const PictureField = ({ onChoose, ...portraitProps }: PictureFieldProps) => {
  const labelId = useId();
  const input = useRef<HTMLInputElement>(null);
  const serviceError = useContext(FieldErrorsContext)["picture"];
  const [fileError, setFileError] = useState<string>();
  const { chosenPicture, imageUrl } = portraitProps;
  const error = fileError ?? serviceError;
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > pictureBytesMax) return setFileError(texts.pictureTooLarge);
    const bitmap = await createImageBitmap(file).catch(() => undefined);
    if (bitmap === undefined) return setFileError(texts.pictureInvalid);
    setFileError(undefined);
    onChoose({ file, bitmap });
  };
  return (
    <div className={uiStyles["field"]} role="group" aria-labelledby={labelId}>
      <span id={labelId} className={uiStyles["label"]}>
        {texts.picture}
      </span>
      <div className={uiStyles["row"]}>
        <Portrait {...portraitProps} className={styles["fieldAvatar"]} />
        <input
          ref={input}
          type="file"
          name="picture"
          accept="image/png,image/jpeg,image/webp,image/gif"
          hidden
          onChange={({ target }) => {
            void choose(target.files?.[0]);
            // Otherwise, choosing the same file again would not be a change.
            target.value = "";
          }}
        />
        <Button onPress={() => input.current?.click()}>{texts.choosePicture}</Button>
        {(chosenPicture !== undefined || imageUrl !== "") && (
          <Button
            variant="quiet"
            onPress={() => {
              setFileError(undefined);
              onChoose(undefined);
            }}
          >
            {texts.removePicture}
          </Button>
        )}
      </div>
      <span className={uiStyles["hint"]}>{texts.pictureHint}</span>
      {error !== undefined && (
        <span className={uiStyles["fault"]} role="alert">
          {error}
        </span>
      )}
    </div>
  );
};
