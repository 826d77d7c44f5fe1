import type { JSX, RefObject } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { KeyBar, Row, WindowBar } from "../../../src/dashboard/wire.ts";
import { useMiddling, useNarrow, useRetirement, useRows, useSize } from "../app/hooks.ts";
import { memo } from "../app/memo.ts";
import { adjust } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import type { ListQuery } from "../list/list-query.ts";
import { FilterBar } from "../parts/filter-bar.tsx";
import { RowName } from "../parts/names.tsx";
import { Empty } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { VirtualGrid } from "../parts/virtual-grid.tsx";
import { counted, keyWords, noneWords, rowWords } from "../parts/words.ts";
import { credentialPath } from "../route/route.ts";
import { fittingRange, reveal, type TimeRange } from "../time/time-range.ts";
import type { TimeScale } from "../time/time-scale.ts";
import { keyAt, type Lanes, lanesOf } from "../timeline/bars.ts";
import { useTimeGestures } from "../timeline/gestures.ts";
import { type CardPlace, KeyCard } from "../timeline/key-card.tsx";
import { geometryOf, KeyTrack } from "../timeline/key-track.tsx";
import { Legend } from "../timeline/legend.tsx";
import { keysWithoutFuture, mergedKeys, withPast } from "../timeline/merged-keys.ts";
import { Present, TimeAxis, TimeGrid } from "../timeline/time-axis.tsx";
import { rangeAfterKey, TimeControls } from "../timeline/time-controls.tsx";
import { useScale } from "../timeline/use-scale.ts";

/** Every key as a bar, as far as time goes. Rows are drawn where they are in sight, and the engine is asked for those alone. */
const MAX_LANES = 3;
/** Names have more room where there is more. */
const labelWidth = (width: number): number => (width > 1200 ? 345 : 250);

export function TimelinePage(props: { query: ListQuery; range: TimeRange | undefined }): JSX.Element {
  const { query } = props;
  const page = usePage();
  const rows = useRows(query).value;
  const range = useRange(props.range);
  const isNarrow = useNarrow();
  const isFolded = useMiddling();
  const [frame, size] = useSize();
  const offset = isNarrow ? 0 : labelWidth(size.width);
  const scale = useScale(range, Math.max(100, size.width - offset - SCROLLBAR));
  const rowHeight = isNarrow ? 54 : 38;
  const setRange = useCallback((next: TimeRange) => adjust({ page: "timeline", query, range: next }), [query]);
  const [card, setCard] = useState<CardPlace>();
  useTimeGestures(frame, { range, scale, now: () => page.now.peek(), offset, onChange: setRange });

  const { from, until } = scale;
  const ask = useCallback(
    (inSight: readonly Row[]) => page.futures.want(inSight, { sight: { from, until }, until, now: page.now.peek() }),
    [page, from, until],
  );
  const lanes = useLanes();
  const onKey = useTimelineKeys({ lanes, scale, rowHeight, offset, range, setRange, setCard });

  const onMove = (event: PointerEvent): void => {
    const place =
      event.pointerType === "touch" || event.buttons > 0
        ? undefined
        : keyUnder(event, rows, lanes, { scale, rowHeight });
    if (place?.key !== card?.key || place) setCard(place);
  };

  return (
    <div class="page full timeline-page" ref={frame} style={{ "--label": `${offset}px` }}>
      <h1 class="hidden" tabIndex={-1}>
        Timeline
      </h1>
      <div class="bar">
        <FilterBar
          query={query}
          shown={rows.length}
          onChange={(next) => adjust({ page: "timeline", query: next, ...(props.range && { range: props.range }) })}
        />
        {isFolded ? <FoldedLegend /> : null}
        <TimeControls range={range} onChange={setRange} />
      </div>
      <VirtualGrid
        class="timeline"
        label="Keys over time. Arrows up and down go from row to row, left and right through time, plus and minus zoom, Shift with left and right from key to key."
        items={rows}
        rowHeight={rowHeight}
        columns={2}
        keyOf={idOf}
        onSight={ask}
        onKey={onKey}
        head={<Head count={rows.length} scale={scale} />}
        bodyProps={{ onPointerMove: onMove, onPointerLeave: () => setCard(undefined) }}
        row={(row, { tabIndex }) => (
          <TimelineRow
            row={row}
            scale={scale}
            rowHeight={rowHeight}
            tabIndex={tabIndex}
            lanes={lanes}
            isNarrow={isNarrow}
          />
        )}
        underlay={
          <div class="timeline-overlay" style={{ left: `${offset}px`, width: `${scale.width}px` }}>
            <TimeGrid scale={scale} height={size.height} />
          </div>
        }
        overlay={
          <div class="timeline-overlay" style={{ left: `${offset}px`, width: `${scale.width}px` }}>
            <MovingPresent scale={scale} frame={isNarrow ? frame : undefined} />
          </div>
        }
      />
      {rows.length === 0 ? <NoRows /> : null}
      {isFolded ? null : <Legend />}
      <KeyCard place={card} now={page.now.peek()} />
    </div>
  );
}

/** What fits, once all rows are there; from then on it stays as it is, whatever changes. */
function useRange(chosen: TimeRange | undefined): TimeRange {
  const page = usePage();
  const isComplete = page.isComplete.value;
  const fitting = useMemo(
    () => fittingRange(isComplete ? [...page.store.rows.values()].flatMap(({ frequencyMs }) => frequencyMs ?? []) : []),
    [page, isComplete],
  );
  return chosen ?? fitting;
}

const Head = ({ count, scale }: { count: number; scale: TimeScale }): JSX.Element => (
  <div class="timeline-head" role="row" aria-rowindex={1}>
    <div role="columnheader" class="timeline-label">
      {counted(count, "credential")}
    </div>
    <div role="columnheader" class="timeline-track">
      <span class="hidden">Keys, by UTC</span>
      <TimeAxis scale={scale} />
    </div>
  </div>
);

const SCROLLBAR = 12;
const idOf = ({ id }: Row): string => id;

function NoRows(): JSX.Element {
  const page = usePage();
  if (!page.isComplete.value) return <Empty>Reading credentials…</Empty>;
  return (
    <Empty>
      {page.store.rows.size === 0 ? noneWords(page.unread.value) : "No credential is like that. Show all has them all."}
    </Empty>
  );
}

const FoldedLegend = (): JSX.Element => (
  <details class="more">
    <summary>Legend</summary>
    <Legend />
  </details>
);

/**
 * In front of all rows at once. Where names stand above the bars, a line through all of it would strike through them: there
 * each track draws its own, at the place that its frame is told.
 */
function MovingPresent({ scale, frame }: { scale: TimeScale; frame: RefObject<HTMLElement> | undefined }): JSX.Element {
  const now = usePage().now.value;
  const x = scale.x(now);
  useLayoutEffect(() => frame?.current?.style.setProperty("--now", `${x}px`), [frame, x]);
  return <Present scale={scale} now={now} />;
}

interface RowLanes extends Lanes {
  readonly windows: readonly WindowBar[];
  readonly knownUntil?: number | undefined;
}

/** Which key is on which lane, worked out once for each state of a row and of what is foreseen of it. */
function useLanes(): (row: Row) => RowLanes {
  const page = usePage();
  const version = page.futuresVersion.value;
  const known = useMemo(() => new WeakMap<Row, { version: number; lanes: RowLanes; future: unknown }>(), []);
  return useCallback(
    (row) => {
      const before = known.get(row);
      if (before?.version === version) return before.lanes;
      const future = page.futures.of(row);
      if (before && before.future === future) {
        before.version = version;
        return before.lanes;
      }
      const keys = future ? mergedKeys(row.keys, future) : keysWithoutFuture(row);
      const all = withPast(keys, page.store.past(row.id));
      const lanes = { ...lanesOf(all, MAX_LANES), windows: future?.windows ?? [], knownUntil: future?.until };
      known.set(row, { version, lanes, future });
      return lanes;
    },
    [page, known, version],
  );
}

const TimelineRow = memo(
  (props: {
    row: Row;
    scale: TimeScale;
    rowHeight: number;
    tabIndex: number;
    isNarrow: boolean;
    lanes: (row: Row) => RowLanes;
  }): JSX.Element => {
    const { row, scale, rowHeight, tabIndex, isNarrow } = props;
    const page = usePage();
    const lanes = props.lanes(row);
    const retirement = useRetirement(row);
    return (
      <>
        <div role="rowheader" class="timeline-label">
          <a href={credentialPath(row.id)} tabIndex={tabIndex} data-focus class="name" title={row.id}>
            <RowName row={row} />
          </a>
          <StateMark row={row} />
        </div>
        <div role="gridcell" class="timeline-track">
          <KeyTrack
            lanes={lanes}
            scale={scale}
            windows={lanes.windows}
            rowHeight={isNarrow ? rowHeight - 20 : rowHeight}
            label={rowWords(row, page.now.peek(), retirement)}
            knownUntil={lanes.knownUntil}
          />
        </div>
      </>
    );
  },
);

/** The key under the pointer, by the row's place and the lane's. */
function keyUnder(
  event: PointerEvent,
  rows: readonly Row[],
  lanesFor: (row: Row) => RowLanes,
  { scale, rowHeight }: { readonly scale: TimeScale; readonly rowHeight: number },
): CardPlace | undefined {
  const track = event.target instanceof Element ? event.target.closest(".timeline-track") : null;
  const line = track?.closest<HTMLElement>("[data-index]");
  const row = line ? rows[Number(line.dataset.index)] : undefined;
  if (!track || !row) return undefined;
  const box = track.getBoundingClientRect();
  const lanes = lanesFor(row);
  const { top, height, gap } = geometryOf(Math.min(rowHeight, box.height), lanes.count);
  const lane = Math.floor((event.clientY - box.top - top) / (height + gap));
  const key = keyAt(lanes, scale, { x: event.clientX - box.left, lane });
  return key && { key, x: event.clientX, y: event.clientY };
}

/** Keys that move through time; with Shift the arrows go from key to key of a row, and what the key is, is shown and said. */
function useTimelineKeys(options: {
  lanes: (row: Row) => RowLanes;
  scale: TimeScale;
  rowHeight: number;
  offset: number;
  range: TimeRange;
  setRange: (range: TimeRange) => void;
  setCard: (place: CardPlace | undefined) => void;
}): (event: KeyboardEvent, row: Row) => void {
  const page = usePage();
  const chosen = useRef<{ id: string; index: number }>();
  return (event, row) => {
    const next = event.shiftKey || event.ctrlKey ? undefined : rangeAfterKey(event.key, options.range, page.now.peek());
    if (next) {
      event.preventDefault();
      options.setCard(undefined);
      options.setRange(next);
    }
    const by = event.shiftKey ? { ArrowLeft: -1, ArrowRight: 1 }[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    const now = page.now.peek();
    const keys: readonly KeyBar[] = options.lanes(row).keys.map(({ key }) => key);
    const current = keys.findIndex(({ state }) => state === "active");
    const from = chosen.current?.id === row.id ? chosen.current.index + by : Math.max(0, current);
    const index = Math.min(Math.max(from, 0), keys.length - 1);
    const key = keys[index];
    if (!key) return;
    chosen.current = { id: row.id, index };
    const at = Math.max(key.createdAt, 0);
    options.setRange(reveal(options.range, at, now));
    page.say(`${key.name}: ${keyWords(key, now).join("; ")}`);
    const box =
      event.target instanceof Element ? event.target.closest('[role="row"]')?.getBoundingClientRect() : undefined;
    if (!box) return;
    const x = Math.max(0, Math.min(options.scale.x(at), options.scale.width));
    options.setCard({ key, x: box.left + options.offset + x, y: box.top + options.rowHeight / 2 });
  };
}
