/** A sentence with a person's text in it, which turns round nothing beside it. */
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

/** Stands in no sentence of ours. */
const placeholder = "\uffff";
