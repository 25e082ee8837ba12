import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Skeleton } from "./skeleton.tsx";

/**
 * Creates a component whose code is loaded when it is first needed. React's `lazy` would add 300
 * ms: React throttles content that appears soon after a `Suspense` fallback.
 */
export const createLazyComponent = <Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  placeholder: ReactNode = <Skeleton />,
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
        // Throws during rendering, so that the view's error boundary catches the error.
        (error: unknown) =>
          setComponent(() => {
            throw error;
          }),
      );
    }, [Component]);
    return Component === undefined ? placeholder : <Component {...props} />;
  };
};
