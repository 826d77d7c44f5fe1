import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { TableScroll } from "./table-scroll.tsx";
import { Stamp, When } from "./when.tsx";
import { counted, MARK_WORDS } from "./words.ts";

const FEW = 12;

const STATES: Readonly<Record<KeyBar["state"], string>> = {
  pending: "being made",
  active: "active",
  retired: "retired",
  deleted: "deleted",
  foreseen: "to come",
};

/** Keys with their dates; a few of them, and all when asked. */
export function KeyTable({ keys, more }: { keys: readonly KeyBar[]; more: number }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? keys : keys.slice(0, FEW);
  return (
    <TableScroll label="Keys, as a table">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Key</th>
            <th scope="col">Made</th>
            <th scope="col">Replaced</th>
            <th scope="col">Deleted</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((key) => (
            <tr key={key.id}>
              <td>
                <span class={`swatch bar-${key.state}`} />
                {STATES[key.state] ?? key.state}
              </td>
              <th scope="row" class="mono">
                <bdi title={key.id}>{key.name}</bdi>
              </th>
              <Dates label="Made" at={key.createdAt} />
              <Dates label="Replaced" at={key.replacedAt} />
              {key.state === "deleted" && key.deletedAt === undefined ? (
                <td class="faint" data-label="Deleted">
                  nobody knows when
                </td>
              ) : (
                <Dates label="Deleted" at={key.deletedAt} />
              )}
              <td data-label="Why">
                {key.mark ? `${MARK_WORDS[key.mark.kind] ?? key.mark.kind}: ${key.mark.words}` : null}
                {key.heldFor === undefined ? null : <div class="tone-trouble">held: {key.heldFor}</div>}
              </td>
            </tr>
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

const Dates = ({ label, at }: { label: string; at: number | undefined }): JSX.Element => (
  <td class="num left" data-label={label}>
    {at === undefined ? (
      <span class="faint">-</span>
    ) : (
      <>
        <Stamp at={at} />{" "}
        <span class="faint">
          <When at={at} />
        </span>
      </>
    )}
  </td>
);
