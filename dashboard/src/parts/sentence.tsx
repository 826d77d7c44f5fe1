import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatInstant } from "../../../src/base/instant.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { sentenceParts } from "./sentence-parts.ts";
import { titled } from "./when.tsx";

/**
 * What the server says, with its instants as the page writes them: never broken at the end of a line, and in local time for
 * whoever points at one, and nothing in it turns its letters around. Keys that are named in `names`, by id, have their id as a title.
 */
export function Sentence({ text, names }: { text: string; names?: ReadonlyMap<string, string> }): JSX.Element {
  const parts = useMemo(() => sentenceParts(text, names), [text, names]);
  return (
    <bdi>
      {parts.map((part, index) =>
        part.kind === "text" ? (
          visible(part.text)
        ) : part.kind === "key" ? (
          <bdi key={index} title={part.id}>
            {visible(part.text)}
          </bdi>
        ) : (
          <time key={index} class="stamp" dateTime={formatInstant(part.at)} onPointerEnter={titled(part.at)}>
            {part.text}
          </time>
        ),
      )}
    </bdi>
  );
}
