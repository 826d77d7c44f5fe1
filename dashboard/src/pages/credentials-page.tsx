import type { JSX } from "preact";
import type { Row } from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { useDerived, useNarrow, useRetirement, useRows } from "../app/hooks.ts";
import { memo } from "../app/memo.ts";
import { adjust } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import type { ListQuery } from "../list/list-query.ts";
import { FilterBar } from "../parts/filter-bar.tsx";
import { namePartsOf } from "../parts/name-parts.ts";
import { PlacedName, RowName } from "../parts/names.tsx";
import { Empty } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { VirtualGrid } from "../parts/virtual-grid.tsx";
import { Age } from "../parts/when.tsx";
import { counted, nextRotationWords, nextWords, noneWords } from "../parts/words.ts";
import { credentialPath } from "../route/route.ts";

/** Every credential on a line, as `keyturn status` has them. */
const COLUMNS = [
  "State",
  "Name",
  "Kind",
  "Active key",
  "Key age",
  "Next rotation",
  "Period",
  "Retired keys",
  "Secret",
] as const;

export function CredentialsPage({ query }: { query: ListQuery }): JSX.Element {
  const page = usePage();
  const rows = useRows(query).value;
  const isNarrow = useNarrow();
  return (
    <div class="page full">
      <h1 class="hidden" tabIndex={-1}>
        Credentials
      </h1>
      <div class="bar">
        <FilterBar
          query={query}
          shown={rows.length}
          onChange={(next) => adjust({ page: "credentials", query: next })}
        />
      </div>
      <VirtualGrid
        class="credentials"
        label="Credentials. Arrows up and down go from row to row, Enter opens one."
        items={rows}
        rowHeight={isNarrow ? 62 : 34}
        columns={COLUMNS.length}
        keyOf={idOf}
        head={
          <div class="credentials-row head" role="row" aria-rowindex={1}>
            {COLUMNS.map((name) => (
              <div key={name} role="columnheader" class={`c-${name.split(" ")[0]?.toLowerCase()}`}>
                {name}
              </div>
            ))}
          </div>
        }
        row={(row, { tabIndex }) => <CredentialRow row={row} tabIndex={tabIndex} isNarrow={isNarrow} />}
      />
      {rows.length > 0 ? null : (
        <Empty>
          {!page.isComplete.value
            ? "Reading credentials…"
            : page.store.rows.size === 0
              ? noneWords(page.unread.value)
              : "No credential is like that. Show all has them all."}
        </Empty>
      )}
    </div>
  );
}

const idOf = ({ id }: Row): string => id;

const CredentialRow = memo((props: { row: Row; tabIndex: number; isNarrow: boolean }): JSX.Element => {
  const { row, tabIndex, isNarrow } = props;
  const active = row.keys.find(({ state }) => state === "active");
  const retired = row.keys.filter(({ state }) => state === "retired").length + (row.moreKeys ?? 0);
  return (
    <div class="credentials-row" role="presentation">
      <div role="gridcell" class="c-state">
        <StateMark row={row} />
      </div>
      <div role="rowheader" class="c-name">
        <a href={credentialPath(row.id)} tabIndex={tabIndex} data-focus class="name">
          <RowName row={row} />
        </a>
      </div>
      <div role="gridcell" class="c-kind">
        {row.kind}
      </div>
      <div role="gridcell" class="c-active mono">
        {active ? <bdi>{visible(active.name)}</bdi> : <span class="faint">none</span>}
      </div>
      <div role="gridcell" class="c-age num">
        <Age since={active?.createdAt} />
      </div>
      <div role="gridcell" class="c-next">
        <Next row={row} words={isNarrow ? nextWords : nextRotationWords} />
      </div>
      <div role="gridcell" class="c-period num">
        {row.frequencyMs === undefined ? <span class="faint">-</span> : shortLength(row.frequencyMs)}
      </div>
      <div role="gridcell" class="c-retired num">
        {retired === 0 ? <span class="faint">-</span> : <span title={counted(retired, "retired key")}>{retired}</span>}
      </div>
      <div role="gridcell" class="c-secret mono">
        {row.secret === undefined ? <span class="faint">-</span> : <PlacedName {...namePartsOf(row.secret)} />}
      </div>
    </div>
  );
});

/** Where there are no columns, it says what it is that comes. */
function Next({ row, words }: { row: Row; words: typeof nextWords }): JSX.Element {
  const page = usePage();
  const retirement = useRetirement(row);
  const text = useDerived(() => visible(words(row, page.now.value, retirement)), [page, row, words, retirement]);
  return <bdi>{text}</bdi>;
}
