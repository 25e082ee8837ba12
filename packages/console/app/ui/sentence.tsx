/** A sentence with a person's text in it, which turns round nothing beside it. */
export const Sentence = ({ words, name }: { words: (name: string) => string; name: string }) => {
  const [before = "", after = ""] = words(place).split(place);
  return (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  );
};

/** Stands in no sentence of ours. */
const place = "\uffff";
