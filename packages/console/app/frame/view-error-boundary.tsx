import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Card, Page } from "../ui/page.tsx";
import { texts } from "../ui/texts.ts";

type Props = { children: ReactNode };

/** Catches the errors of a view, so that the rest of the page still works. */
export class ViewErrorBoundary extends Component<Props, { hasError: boolean }> {
  override state = { hasError: false };
  static getDerivedStateFromError() {
    return { hasError: true };
  }
  override render(): ReactNode {
    if (!this.state.hasError) return this.props.children;
    return (
      <Page title={texts.viewErrorTitle}>
        <Card>
          <p>{texts.viewErrorText}</p>
          <div>
            <Button onPress={() => location.reload()}>{texts.reload}</Button>
          </div>
        </Card>
      </Page>
    );
  }
}
