import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Card, Page } from "../ui/page.tsx";
import { texts } from "../ui/texts.ts";

type Props = { children: ReactNode };

/** Keeps a view that failed from taking the rest of the page with it. */
export class ViewBoundary extends Component<Props, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return (
      <Page title={texts.brokenTitle}>
        <Card>
          <p>{texts.broken}</p>
          <div>
            <Button onPress={() => location.reload()}>{texts.reload}</Button>
          </div>
        </Card>
      </Page>
    );
  }
}
