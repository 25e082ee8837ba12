/**
 * A sentence that contains user text. The user text is isolated, so that its direction does not
 * affect the rest.
 */
export const Sentence = ({
  template,
  name,
}: {
  template: (name: string) => string;
  name: string;
}) => {
  const [before = "", after = ""] = template(placeholder).split(placeholder);
  return (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  );
};

/** A character that does not occur in any text. */
const placeholder = "\uffff";
