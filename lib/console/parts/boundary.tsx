import { Component, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { Page } from "./page.tsx";
import { Trouble } from "./trouble.tsx";

interface BoundaryProps {
  readonly children: ReactNode;
}

/** Keeps what is around a page when the page itself fails. Give it the page's path as `key`. */
export class Boundary extends Component<BoundaryProps, { readonly error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Page title="This page failed">
        <Trouble error={error} />
        <div className="acts">
          <Button kind="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </div>
      </Page>
    );
  }
}
