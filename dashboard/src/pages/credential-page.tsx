import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Action, ActionOffer, CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { useLoaded, useRetirement, useRow } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import { browserClock } from "../base/clock.ts";
import { namePartsOf } from "../parts/name-parts.ts";
import { CredentialLink, PlacedName, SecretLink } from "../parts/names.tsx";
import { Empty, Notice } from "../parts/notice.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { When } from "../parts/when.tsx";
import { ACTION_WORDS, datesOf, OVERDUE_MS } from "../parts/words.ts";
import { fittingRange, type TimeRange } from "../time/time-range.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { Details } from "./credential-details.tsx";
import { Progress, useProgress } from "./progress.tsx";

/** Everything about one credential, and what can be done to it. */
const REFRESH_MS = 15_000;

export function CredentialPage(props: { id: CredentialId; range: TimeRange | undefined }): JSX.Element {
  const { id } = props;
  const page = usePage();
  const row = useRow(id);
  const turn = useTurns(REFRESH_MS);
  const connection = page.connection.value.kind;
  const {
    value: view,
    failure,
    isLoading,
    reload,
  } = useLoaded(id, () => page.api.credential(id), markOf(row, turn, connection));
  const { value: last } = useLoaded(id, () => page.api.lastFailure(id), `${turn} ${connection === "live"}`);
  const progress = useProgress(id, row);
  const [asking, setAsking] = useState<Action>();
  const isGone = page.isComplete.value && !row && page.unread.value === "";
  const shown = row ?? view?.row;
  const frequencyMs = shown?.frequencyMs;
  const fitting = useMemo(() => fittingRange(frequencyMs === undefined ? [] : [frequencyMs]), [frequencyMs]);
  const range = props.range ?? fitting;
  const [kind = "", ...name] = id.split("/");
  return (
    <div class="page credential">
      <div class="title">
        <div>
          <p class="over">{kind}</p>
          <h1 tabIndex={-1}>
            <PlacedName {...namePartsOf(name.join("/"))} />
          </h1>
          {shown ? <Summary row={shown} /> : null}
        </div>
        {view && !isGone ? (
          <Actions
            offers={view.actions.filter((offer) => isMeant(offer, view.row))}
            refusal={view.refusal}
            isBusy={progress.isUnderWay}
            onAsk={setAsking}
          />
        ) : null}
      </div>
      {isGone ? <Notice tone="trouble">This credential is not there, or not any more.</Notice> : null}
      {failure && !isGone ? <Notice tone="trouble">{failure}</Notice> : null}
      <Progress lines={progress.lines} isUnderWay={progress.isUnderWay} />
      {isLoading && !failure && !isGone ? <Empty>Reading it…</Empty> : null}
      {view ? <Details view={view} row={row ?? view.row} range={range} lastFailure={last?.text} /> : null}
      {asking && view ? (
        <ActionDialog
          view={view}
          action={asking}
          onDone={(words) => {
            setAsking(undefined);
            progress.begin(words, asking);
            reload();
          }}
          onClose={() => {
            setAsking(undefined);
            reload();
          }}
        />
      ) : null}
    </div>
  );
}

/** Changes whenever the credential should be looked at again: its row, a while, or a connection that is back. */
const marks = new WeakMap<Row, number>();
let lastMark = 0;
function markOf(row: Row | undefined, turn: number, connection: string): string {
  if (row && !marks.has(row)) marks.set(row, ++lastMark);
  return `${row ? marks.get(row) : 0} ${turn} ${connection === "live"}`;
}

function useTurns(everyMs: number): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => browserClock.after(everyMs, () => setTurn(turn + 1)), [turn, everyMs]);
  return turn;
}

/** Of freezing and its contrary one is of use at a time. */
const isMeant = ({ action }: ActionOffer, { isFrozen }: Row): boolean =>
  action === "freeze" ? !isFrozen : action === "unfreeze" ? isFrozen === true : true;

function Summary({ row }: { row: Row }): JSX.Element {
  const isOverdue = row.rotationAt !== undefined && row.rotationAt < usePage().now.value - OVERDUE_MS;
  const retirement = useRetirement(row);
  const deletion = retirement && datesOf(retirement).deletion;
  return (
    <p class="summary">
      <StateMark row={row} />
      <span>
        {row.frequencyMs === undefined
          ? row.parent === undefined
            ? "never rotated by itself"
            : retirement
              ? "its parent has retired it"
              : "its parent replaces it"
          : `replaced after ${shortLength(row.frequencyMs)}${row.ttlMs === undefined ? "" : `, lives for ${shortLength(row.ttlMs)}`}`}
      </span>
      {row.rotationAt === undefined ? null : (
        <span>
          {isOverdue ? "rotation due" : "next rotation"} <When at={row.rotationAt} />
        </span>
      )}
      {deletion === undefined ? null : (
        <span>
          deletion <When at={deletion} />
        </span>
      )}
      {row.secret === undefined ? null : (
        <span>
          Secret <SecretLink secret={row.secret} />
        </span>
      )}
      {row.parent === undefined ? null : (
        <span>
          a key of <CredentialLink id={row.parent} />
        </span>
      )}
    </p>
  );
}

function Actions(props: {
  offers: readonly ActionOffer[];
  refusal: string | undefined;
  isBusy: boolean;
  onAsk: (action: Action) => void;
}): JSX.Element {
  const page = usePage();
  if (page.viewer.value?.mayChange === false) {
    return <p class="faint actions">Changes are switched off for this page.</p>;
  }
  if (props.refusal !== undefined) return <p class="faint actions">{props.refusal}</p>;
  const obstacles = props.offers.filter(({ obstacle }) => obstacle !== undefined);
  return (
    <div class="actions">
      <div class="buttons">
        {props.offers.map(({ action, obstacle }) => (
          <button
            key={action}
            type="button"
            class={action === "rotate" ? "first" : action === "compromised" ? "grave" : undefined}
            // Not `disabled`: who comes by keys should find it, and hear why.
            aria-disabled={obstacle !== undefined || props.isBusy}
            aria-describedby={obstacle === undefined ? undefined : `why-${action}`}
            title={obstacle}
            onClick={() => {
              if (obstacle === undefined && !props.isBusy) props.onAsk(action);
            }}
          >
            {ACTION_WORDS[action].label}
          </button>
        ))}
      </div>
      {obstacles.map(({ action, obstacle }) => (
        <p key={action} id={`why-${action}`} class="faint why">
          {ACTION_WORDS[action].label}: <Sentence text={obstacle ?? ""} />
        </p>
      ))}
    </div>
  );
}
