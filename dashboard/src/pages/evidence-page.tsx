import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { AuditView, EvidenceItem, EvidenceView } from "../../../src/dashboard/wire.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { useLoaded } from "../app/hooks.ts";
import { go } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import { Icon } from "../parts/icon.tsx";
import { SecretLink } from "../parts/names.tsx";
import { Empty, Notice, Unseen } from "../parts/notice.tsx";
import { Panel } from "../parts/panel.tsx";
import { instantText } from "../parts/sentence-parts.ts";
import { TableScroll } from "../parts/table-scroll.tsx";
import { Stamp } from "../parts/when.tsx";
import { grouped } from "../parts/words.ts";
import { credentialPath, formatRoute } from "../route/route.ts";
import { utcDay } from "../time/when.ts";

/** The compliance report and the audit chain, to be read and to be printed. */
export function EvidencePage({ maxPeriod }: { maxPeriod?: string | undefined }): JSX.Element {
  const page = usePage();
  const { value, failure, isLoading, reload } = useLoaded(maxPeriod ?? "", () => page.api.evidence(maxPeriod));
  const [wish, setWish] = useState(maxPeriod ?? "");
  useEffect(() => setWish(maxPeriod ?? ""), [maxPeriod]);
  return (
    <div class="page evidence">
      <div class="title">
        <div>
          <h1 tabIndex={-1}>Evidence of rotation</h1>
          {value ? <p class="summary">As of {instantText(value.at)}</p> : null}
        </div>
        <form
          class="actions no-print"
          onSubmit={(event) => {
            event.preventDefault();
            go(formatRoute(wish.trim() === "" ? { page: "evidence" } : { page: "evidence", maxPeriod: wish.trim() }));
          }}
        >
          <div class="buttons">
            <label class="field inline">
              <span>Longest period</span>
              <input
                class="short"
                value={wish}
                placeholder="90d"
                onInput={(event) => setWish(event.currentTarget.value)}
              />
            </label>
            <button type="submit">Apply</button>
            <button type="button" onClick={reload}>
              Read again
            </button>
            <button
              type="button"
              class="first"
              disabled={!value}
              onClick={() => dispatchEvent(new Event("keyturn-print"))}
            >
              Print
            </button>
          </div>
        </form>
      </div>
      {failure ? <Notice tone="trouble">{failure}</Notice> : null}
      {isLoading && !failure ? <Empty>Making the report…</Empty> : null}
      {value && !failure ? <Report view={value} /> : null}
    </div>
  );
}

function Report({ view }: { view: EvidenceView }): JSX.Element {
  const items = useMemo(() => [...view.items].sort(worstFirst), [view]);
  const inOrder = items.filter(({ isInOrder }) => isInOrder).length;
  const overdue = items.filter(({ overdueMs }) => overdueMs > 0).length;
  const exceptions = items.filter((item) => item.exceptions.length > 0).length;
  return (
    <>
      <dl class="figures">
        {(
          [
            ["credentials", items.length],
            ["in order", inOrder],
            ["overdue", overdue],
            ["with exceptions", exceptions],
            ["with problems", items.filter(({ problems }) => problems.length > 0).length],
          ] as const
        ).map(([name, count]) => (
          <div key={name} data-none={count === 0}>
            <dt>{name}</dt>
            <dd>{grouped(count)}</dd>
          </div>
        ))}
      </dl>
      <Audit audit={view.audit} />
      <Unseen lines={view.unseen} />
      <Panel
        id="report"
        title="Compliance report"
        aside={
          view.maxPeriodMs === undefined ? null : (
            <span class="faint">periods of at most {shortLength(view.maxPeriodMs)}</span>
          )
        }
      >
        {items.length === 0 ? <Empty>There is nothing to report on.</Empty> : <Items items={items} />}
      </Panel>
    </>
  );
}

const rank = ({ isInOrder, overdueMs }: EvidenceItem): number => (isInOrder ? 2 : overdueMs > 0 ? 0 : 1);
const worstFirst = (a: EvidenceItem, b: EvidenceItem): number => rank(a) - rank(b) || (a.label < b.label ? -1 : 1);

const FEW = 60;
/** So many lines are added at a time: to draw ten thousand at once would let nobody else have a turn. */
const STEP = 120;

/** A few lines at first. All of them are drawn when asked, and before printing: what is printed is the whole report. */
function Items({ items }: { items: readonly EvidenceItem[] }): JSX.Element {
  const [wanted, setWanted] = useState(FEW);
  const [drawn, setDrawn] = useState(FEW);
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const onPrint = (): void => {
      setWanted(Infinity);
      setPrinting(true);
    };
    addEventListener("keyturn-print", onPrint);
    return () => removeEventListener("keyturn-print", onPrint);
  }, []);
  const isAll = drawn >= items.length;
  useEffect(() => {
    if (drawn >= Math.min(wanted, items.length)) return;
    const frame = requestAnimationFrame(() => setDrawn((before) => before + STEP));
    return () => cancelAnimationFrame(frame);
  }, [drawn, wanted, items.length]);
  useEffect(() => {
    if (!isPrinting || !isAll) return;
    setPrinting(false);
    print();
  }, [isPrinting, isAll]);
  return (
    <TableScroll label="Compliance report, as a table">
      <table class="report stacked">
        <thead>
          <tr>
            <th scope="col">Verdict</th>
            <th scope="col">Credential</th>
            <th scope="col">Secret</th>
            <th scope="col">Period</th>
            <th scope="col">Last rotation</th>
            <th scope="col">Next rotation</th>
            <th scope="col">Exceptions and problems</th>
          </tr>
        </thead>
        <tbody>
          {items.slice(0, drawn).map((item) => (
            <Item key={item.label} item={item} />
          ))}
        </tbody>
      </table>
      {isAll ? null : (
        <button type="button" class="plain no-print" onClick={() => setWanted(Infinity)} disabled={wanted === Infinity}>
          {wanted === Infinity
            ? `Drawing ${grouped(Math.min(drawn, items.length))} of ${grouped(items.length)}…`
            : `Show all ${grouped(items.length)}`}
        </button>
      )}
      {isAll ? null : (
        <p class="print-only">
          Only {grouped(drawn)} of {grouped(items.length)}: the button Print of the page prints them all.
        </p>
      )}
    </TableScroll>
  );
}

function Item({ item }: { item: EvidenceItem }): JSX.Element {
  const verdict = item.isInOrder
    ? "In order"
    : item.overdueMs > 0
      ? `Overdue ${shortLength(item.overdueMs)}`
      : "Exception";
  return (
    <tr>
      <td>
        <span class={`state tone-${item.isInOrder ? "calm" : item.overdueMs > 0 ? "trouble" : "still"}`}>
          <Icon shape={item.isInOrder ? "ok" : item.overdueMs > 0 ? "trouble" : "note"} />
          {verdict}
        </span>
      </td>
      <th scope="row">
        {item.id === undefined ? (
          <bdi>{item.label}</bdi>
        ) : (
          <a href={credentialPath(item.id)}>
            <bdi>{item.label}</bdi>
          </a>
        )}
      </th>
      <td class="mono" data-label="Secret">
        <SecretLink secret={item.secret} />
      </td>
      <td class="num left" data-label="Period">
        {item.periodMs === undefined || !Number.isFinite(item.periodMs) ? (
          <span class="faint">never</span>
        ) : (
          shortLength(item.periodMs)
        )}
      </td>
      <td class="num left" data-label="Last rotation">
        <Stamp at={item.lastRotationAt} />
      </td>
      <td class="num left" data-label="Next rotation">
        <Stamp at={item.nextRotationAt} />
      </td>
      <td>
        {[
          ...item.problems,
          ...item.exceptions.map(({ kind, words }) => `${kind}: ${words}`),
          ...(item.heldBackBy === undefined ? [] : [`held back: ${item.heldBackBy}`]),
        ].map((line) => (
          <div key={line}>
            <bdi>{line}</bdi>
          </div>
        ))}
      </td>
    </tr>
  );
}

function Audit({ audit }: { audit: AuditView }): JSX.Element {
  if (audit.kind === "none") {
    return (
      <Panel id="audit" title="Audit log">
        <p class="fine">{audit.words}</p>
      </Panel>
    );
  }
  const { isSound, from, until } = audit;
  // `Sound: 12 lines of 1 process, all as they were written.`
  const [head = "", ...lines] = audit.words;
  const span = from === undefined || until === undefined ? null : `${utcDay(from)} to ${utcDay(until)}`;
  return (
    <Panel id="audit" title="Audit log" aside={span === null ? null : <span class="faint">{span}</span>}>
      <p class={`fine ${isSound ? "" : "tone-trouble"}`}>
        <Icon shape={isSound ? "ok" : "trouble"} />
        <strong>{isSound ? "Sound" : "Not sound"}</strong>
        <span class="faint">{head.slice(head.indexOf(": ") + 1).trim()}</span>
      </p>
      {lines.length === 0 ? null : (
        <ul class="lines tight">
          {lines.map((line) => (
            <li key={line}>
              <bdi>{line}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
