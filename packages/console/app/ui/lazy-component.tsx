import { type ComponentType, useEffect, useState } from "react";
import { texts } from "./texts.ts";

/**
 * A component whose code is fetched when it is first wanted. React's `lazy` shows such code 300 ms late:
 * it holds back what comes soon after the words that stood in its place.
 */
export const createLazyComponent = <Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> => {
  let loadedComponent: ComponentType<Props> | undefined;
  const loadComponent = async (): Promise<ComponentType<Props>> =>
    (loadedComponent = (await load()).default);
  return (props) => {
    const [Component, setComponent] = useState(() => loadedComponent);
    useEffect(() => {
      if (Component !== undefined) return;
      loadComponent().then(
        (component) => setComponent(() => component),
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
