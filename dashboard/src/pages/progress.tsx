import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Action, CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { usePage } from "../app/page-state.ts";
import { Sentence } from "../parts/sentence.tsx";
import { progressWords } from "../parts/words.ts";

/** What becomes of what was asked for on this page, as it happens. */
interface ProgressState {
  readonly lines: readonly string[];
  readonly isUnderWay: boolean;
  begin(words: string, action: Action): void;
}

/** What becomes of what was asked for here, from the rows that the stream brings; each line is also said. */
export function useProgress(id: CredentialId, row: Row | undefined): ProgressState {
  const page = usePage();
  const [state, setState] = useState<{ id: CredentialId; lines: string[]; row?: Row | undefined; waitsFor?: Action }>();
  const current = state?.id === id ? state : undefined;
  useEffect(() => {
    if (!current || current.row === row) return;
    const words = progressWords(current.row, row);
    if (words) page.say(words);
    const { waitsFor, ...rest } = current;
    const isOver = !waitsFor || isOverFor(waitsFor, words);
    setState({
      ...rest,
      row,
      lines: words ? [...current.lines, words] : current.lines,
      ...(isOver ? {} : { waitsFor }),
    });
  }, [current, row, page]);
  return {
    lines: current?.lines ?? [],
    isUnderWay: current?.waitsFor !== undefined,
    begin: (words, action) => {
      page.say(words);
      setState({ id, lines: [words], row, waitsFor: action });
    },
  };
}

const isOverFor = (action: Action, words: string | undefined): boolean =>
  words !== undefined &&
  (action === "freeze" || action === "unfreeze" ? words.includes("frozen") : words.endsWith("is active"));

export function Progress({ lines, isUnderWay }: { lines: readonly string[]; isUnderWay: boolean }): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <div class="progress" data-busy={isUnderWay}>
      <ol aria-label="What happens">
        {lines.map((line, index) => (
          <li key={index}>
            <Sentence text={line} />
          </li>
        ))}
      </ol>
    </div>
  );
}
