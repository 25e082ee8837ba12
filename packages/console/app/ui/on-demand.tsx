import { type ComponentType, useEffect, useState } from "react";
import { texts } from "./texts.ts";

/**
 * A component whose code is fetched when it is first wanted. React's `lazy` shows such code 300 ms late:
 * it holds back what comes soon after the words that stood in its place.
 */
export const onDemand = <Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> => {
  let known: ComponentType<Props> | undefined;
  const fetchCode = async (): Promise<ComponentType<Props>> => (known = (await load()).default);
  return (props) => {
    const [Component, setComponent] = useState(() => known);
    useEffect(() => {
      if (Component !== undefined) return;
      fetchCode().then(
        (fetched) => setComponent(() => fetched),
        // Thrown where it is drawn, it comes to the boundary around the view.
        (error: unknown) =>
          setComponent(() => {
            throw error;
          }),
      );
    }, [Component]);
    return Component === undefined ? (
      <p role="status">{texts.loading}</p>
    ) : (
      <Component {...props} />
    );
  };
};
