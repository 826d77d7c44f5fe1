import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { LOOK_WORDS, lookOf } from "./key-looks.ts";
import { isShortName } from "./name-parts.ts";
import { TableScroll } from "./table-scroll.tsx";
import { Stamp, When } from "./when.tsx";
import { counted, datesOf, MARK_WORDS } from "./words.ts";

const FEW = 12;

/** Keys with their dates; a few of them, and all when asked. Why a key came to be is said where that of one is known. */
export function KeyTable({ keys, more }: { keys: readonly KeyBar[]; more: number }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? keys : keys.slice(0, FEW);
  const hasWhy = shown.some(({ mark, heldFor }) => mark !== undefined || heldFor !== undefined);
  return (
    <TableScroll label="Keys, as a table">
      <table class="stacked keys">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Key</th>
            <th scope="col">Made</th>
            <th scope="col">Replacement</th>
            <th scope="col">Deletion</th>
            {hasWhy ? <th scope="col">Why</th> : null}
          </tr>
        </thead>
        <tbody>
          {shown.map((key) => (
            <KeyLine key={key.id} of={key} hasWhy={hasWhy} />
          ))}
        </tbody>
      </table>
      {keys.length > shown.length ? (
        <button type="button" class="plain" onClick={() => setWhole(true)}>
          Show all {keys.length}
        </button>
      ) : null}
      {more > 0 ? <p class="faint">{counted(more, "more retired key")}, older than these, are not listed.</p> : null}
    </TableScroll>
  );
}

/** Which of its dates are still to come follows from its state: one that should have been by now is due too. */
function KeyLine({ of: key, hasWhy }: { of: KeyBar; hasWhy: boolean }): JSX.Element {
  const { state, createdAt, mark, heldFor } = key;
  const { replacement, deletion } = datesOf(key);
  const look = lookOf(key);
  return (
    <tr>
      <td>
        <span class={`swatch bar-${look}`} />
        {LOOK_WORDS[look] ?? state}
      </td>
      <th scope="row" class={isShortName(key.name) ? "mono whole" : "mono"}>
        <bdi title={visible(key.id)}>{visible(key.name)}</bdi>
      </th>
      <Dates label="Made" at={createdAt} isDue={state === "foreseen"} />
      <Dates label="Replacement" at={replacement} isDue={state !== "retired" && state !== "deleted"} />
      {state === "deleted" && deletion === undefined ? (
        <td class="faint" data-label="Deletion">
          nobody knows when
        </td>
      ) : (
        <Dates label="Deletion" at={deletion} isDue={state !== "deleted"} />
      )}
      {hasWhy ? (
        <td class="why" data-label="Why">
          {mark ? `${MARK_WORDS[mark.kind] ?? mark.kind}: ${mark.words}` : null}
          {heldFor === undefined ? null : <div class="tone-trouble">held back: {visible(heldFor)}</div>}
        </td>
      ) : null}
    </tr>
  );
}

const Dates = (props: { label: string; at: number | undefined; isDue: boolean }): JSX.Element => {
  const { label, at, isDue } = props;
  return (
    <td class={isDue ? "num left faint" : "num left"} data-label={label}>
      {at === undefined ? (
        <span class="faint">-</span>
      ) : (
        <span>
          {isDue ? "due " : null}
          <Stamp at={at} />{" "}
          <span class="faint">
            <When at={at} />
          </span>
        </span>
      )}
    </td>
  );
};
