import { Component, type ReactNode } from "react";
import { AsyncButton } from "../ui/form.tsx";
import { Card, Page } from "../ui/page.tsx";
import { texts } from "../ui/texts.ts";
import { reloadIfReachable } from "./stale-tab.ts";

type Props = { children: ReactNode };

/** Catches the errors of a view, so that the rest of the page still works. */
export class ViewErrorBoundary extends Component<Props, { hasError: boolean }> {
  override state = { hasError: false };
  static getDerivedStateFromError() {
    return { hasError: true };
  }
  override componentDidMount(): void {
    addEventListener("online", this.reloadAfterError);
  }
  override componentWillUnmount(): void {
    removeEventListener("online", this.reloadAfterError);
  }
  /** A view that could not be loaded offline is loaded as soon as the browser is online again. */
  reloadAfterError = (): void => {
    if (this.state.hasError) void reloadIfReachable();
  };
  override render(): ReactNode {
    if (!this.state.hasError) return this.props.children;
    return (
      <Page title={texts.viewErrorTitle}>
        <Card>
          <p>{texts.viewErrorText}</p>
          <div>
            <AsyncButton onPress={reloadIfReachable}>{texts.reload}</AsyncButton>
          </div>
        </Card>
      </Page>
    );
  }
}
