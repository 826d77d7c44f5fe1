import { Component, type ComponentChildren, type JSX } from "preact";
import { Notice } from "../parts/notice.tsx";

/** What cannot be drawn is one clear line, and leaves the rest of the page as it is. */
export class Safe extends Component<{ readonly children: ComponentChildren }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static override getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): JSX.Element {
    if (!this.state.hasFailed) return <>{this.props.children}</>;
    return (
      <div class="page">
        <h1 tabIndex={-1}>This cannot be shown</h1>
        <Notice tone="trouble">
          Something in what the server has sent cannot be drawn. Everything else works; nothing was changed.
        </Notice>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    );
  }
}
