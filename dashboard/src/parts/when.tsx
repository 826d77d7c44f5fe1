import type { JSX } from "preact";
import { formatInstant } from "../../../src/base/instant.ts";
import { relative, shortLength } from "../../../src/insight/words/when.ts";
import { useDerived } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import { bothTexts, isDate } from "../time/when.ts";
import { instantText } from "./sentence-parts.ts";

/** The instant in full, once somebody points at it: to say a local time takes longer than to draw a row. */
export const titled =
  (at: number) =>
  (event: JSX.TargetedPointerEvent<HTMLElement>): void => {
    event.currentTarget.title = bothTexts(at);
  };

/** `in 3d4h`, which goes on by itself; whoever points at it sees the instant, in UTC and on the clock on the wall. */
export function When({ at }: { at: number | undefined }): JSX.Element {
  const page = usePage();
  const words = useDerived(() => (isDate(at) ? relative(at, page.now.value) : "never"), [page, at]);
  if (!isDate(at)) return <span class="faint">never</span>;
  return (
    <time dateTime={formatInstant(at)} onPointerEnter={titled(at)}>
      {words}
    </time>
  );
}

/** How old something is: `3d4h`. */
export function Age({ since }: { since: number | undefined }): JSX.Element {
  const page = usePage();
  const words = useDerived(
    () => (isDate(since) ? shortLength(Math.max(0, page.now.value - since)) : "-"),
    [page, since],
  );
  if (!isDate(since)) return <span class="faint">-</span>;
  return (
    <time dateTime={formatInstant(since)} onPointerEnter={titled(since)}>
      {words}
    </time>
  );
}

/** The instant itself. */
export function Stamp({ at }: { at: number | undefined }): JSX.Element {
  if (!isDate(at)) return <span class="faint">-</span>;
  return (
    <time class="stamp" dateTime={formatInstant(at)} onPointerEnter={titled(at)}>
      {instantText(at)}
    </time>
  );
}
