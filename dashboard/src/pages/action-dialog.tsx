import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Action, CredentialView, Preview, Row } from "../../../src/dashboard/wire.ts";
import { isUnanswered, wordsOf } from "../access/api.ts";
import { useLoaded } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import { Empty, Notice } from "../parts/notice.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { ACTION_WORDS } from "../parts/words.ts";
import { clampSpan } from "../time/time-range.ts";
import { KeyChart } from "../timeline/key-chart.tsx";
import { unrestartedWords } from "./unrestarted.ts";

const LEAST_AHEAD_MS = 2 * 86_400_000;

/** How long it takes until what happens to the key of now has happened: all of that should be in sight. */
function fateMs(preview: Preview | undefined, row: Row, now: number): number {
  const active = row.keys.find(({ state }) => state === "active");
  const { deletedAt = now } = preview?.keys.find(({ id }) => id === active?.id) ?? {};
  return Number.isFinite(deletedAt) ? deletedAt - now : 0;
}

const UNANSWERED =
  "No answer came, so nobody knows whether it was asked for. Close this, and look at what the page shows before you ask again.";

/** What will happen, in words and as bars, before it does. The action is for the state that is shown here, and for no other. */
export function ActionDialog(props: {
  view: CredentialView;
  action: Action;
  onDone: (words: string) => void;
  onClose: () => void;
}): JSX.Element {
  const { action } = props;
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  // What was seen when the button was pressed: what the stream brings meanwhile makes it no other request.
  const [view] = useState(props.view);
  const { row, seen } = view;
  const names = useMemo(() => new Map(view.keys.map(({ id, name }) => [id, name])), [view]);
  const policyMs = Math.max(3 * (row.frequencyMs ?? 0), 2 * (row.ttlMs ?? 0));
  const aheadMs = clampSpan(Math.max(policyMs, LEAST_AHEAD_MS));
  const preview = useLoaded(`${row.id} ${action}`, () => page.api.preview(row.id, action, page.now.peek() + aheadMs));
  const spanMs = clampSpan(Math.max(policyMs, 2 * fateMs(preview.value, row, view.at)));
  const [typed, setTyped] = useState("");
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  const isConfirmed = action !== "compromised" || typed === row.name;
  const { label, confirm } = ACTION_WORDS[action];
  const staying = unrestartedWords(view.consumers, action);

  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);

  const send = async (): Promise<void> => {
    if (isSending || !isConfirmed || failure !== undefined) return;
    setSending(true);
    try {
      const { words } = await page.api.act({ id: row.id, action, seen });
      props.onDone(words);
    } catch (error) {
      setFailure(isUnanswered(error) ? UNANSWERED : wordsOf(error));
      setSending(false);
    }
  };

  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={props.onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2 id="dialog-title">
          {label}: <bdi>{row.name}</bdi>
        </h2>
        {preview.failure ? <Notice tone="trouble">{preview.failure}</Notice> : null}
        {preview.isLoading ? <Empty>Asking the engine what would happen…</Empty> : null}
        {preview.value ? (
          <>
            <ol class="statement">
              {preview.value.statement.map((sentence) => (
                <li key={sentence}>
                  <Sentence text={sentence} names={names} />
                </li>
              ))}
              {staying === undefined ? null : (
                <li>
                  <Sentence text={staying} />
                </li>
              )}
            </ol>
            <KeyChart
              keys={preview.value.keys}
              windows={preview.value.windows}
              range={{ spanMs }}
              label={`Keys of ${row.name}, as they would be`}
            />
          </>
        ) : null}
        {action === "compromised" ? (
          <label class="field typed">
            <span>
              To go on, type its name: <bdi class="mono">{row.name}</bdi>
            </span>
            <input
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        ) : null}
        {failure === undefined ? null : <Notice tone="trouble">{failure}</Notice>}
        <div class="buttons end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {failure === undefined ? "Cancel" : "Close"}
          </button>
          {failure === undefined ? (
            <button
              type="submit"
              class={action === "compromised" ? "grave filled" : "first"}
              disabled={!isConfirmed || isSending || !preview.value}
            >
              {isSending ? "Asking…" : confirm}
            </button>
          ) : null}
        </div>
      </form>
    </dialog>
  );
}
