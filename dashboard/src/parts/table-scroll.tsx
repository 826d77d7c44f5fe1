import type { ComponentChildren, JSX } from "preact";

/** A table that may be wider than the screen: who goes by keys can scroll it too. */
export const TableScroll = ({ label, children }: { label: string; children: ComponentChildren }): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached
  <section class="table-scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
);
