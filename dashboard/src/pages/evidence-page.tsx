import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { AuditView, EvidenceItem, EvidenceView } from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { useLoaded } from "../app/hooks.ts";
import { go } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import { Icon } from "../parts/icon.tsx";
import { namePartsOf } from "../parts/name-parts.ts";
import { CredentialLink, PlacedName, SecretLink } from "../parts/names.tsx";
import { Empty, Notice, Unseen } from "../parts/notice.tsx";
import { Panel } from "../parts/panel.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { instantText } from "../parts/sentence-parts.ts";
import { TableScroll } from "../parts/table-scroll.tsx";
import {
  auditSentence,
  objections,
  VERDICTS,
  type Verdict,
  verdictCounts,
  verdictWords,
  worstFirst,
} from "../parts/verdict.ts";
import { Stamp } from "../parts/when.tsx";
import { counted, grouped } from "../parts/words.ts";
import { formatRoute } from "../route/route.ts";
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
          <h1 tabIndex={-1}>
            <span class="no-print">Evidence of rotation</span>
            <span class="print-only">Keyturn: evidence of rotation</span>
          </h1>
          {value ? (
            <p class="summary">
              <span>As of {instantText(value.at)}</span>
              <Printed />
            </p>
          ) : null}
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
              <span>Longest allowed period</span>
              <input
                class="short"
                value={wish}
                placeholder="90d"
                onInput={(event) => setWish(event.currentTarget.value)}
              />
            </label>
            <button type="submit">Apply</button>
            <button type="button" onClick={reload}>
              Reload
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

/** On paper nothing else says of which cluster this is, and who has seen it so. */
function Printed(): JSX.Element | null {
  const viewer = usePage().viewer.value;
  if (!viewer) return null;
  return (
    <>
      {viewer.cluster === undefined ? null : (
        <span class="print-only">
          Cluster: <bdi>{visible(viewer.cluster)}</bdi>
        </span>
      )}
      <span class="print-only">
        Printed by <bdi>{visible(viewer.name)}</bdi>
      </span>
    </>
  );
}

const FIGURES: Readonly<Record<Verdict, readonly [one: string, many: string]>> = {
  overdue: ["overdue", "overdue"],
  problem: ["problem", "problems"],
  overLimit: ["over limit", "over limit"],
  excepted: ["excepted", "excepted"],
  inOrder: ["in order", "in order"],
};

function Report({ view }: { view: EvidenceView }): JSX.Element {
  const items = useMemo(() => worstFirst(view.items), [view]);
  const counts = useMemo(() => verdictCounts(items), [items]);
  const figures = [
    [["credential", "credentials"], items.length] as const,
    ...VERDICTS.map((verdict) => [FIGURES[verdict], counts[verdict]] as const),
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([[one, many], count]) => (
          <div key={many} data-none={count === 0}>
            <dt>{count === 1 ? one : many}</dt>
            <dd>{grouped(count)}</dd>
          </div>
        ))}
      </dl>
      <HeldKeys count={view.heldKeys} />
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

/** The overview has them among its problems, and no verdict here is about them. */
const HeldKeys = ({ count }: { count: number }): JSX.Element | null =>
  count > 0 ? (
    <p class="footnote">
      {counted(count, "retired key is", "retired keys are")} held back for consumers. That does not count against
      rotation: what is published was rotated.
    </p>
  ) : null;

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
            <th scope="col">Key in use since</th>
            <th scope="col">Next rotation</th>
            <th scope="col">Problems and exceptions</th>
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
  const { word, shape, tone } = verdictWords(item);
  return (
    <tr>
      <td>
        <span class={`state tone-${tone}`}>
          <Icon shape={shape} />
          {word}
        </span>
      </td>
      <th scope="row">
        {item.id === undefined ? (
          <span class="name">
            <PlacedName {...namePartsOf(item.name)} /> <span class="kind">{item.kind}</span>
          </span>
        ) : (
          <CredentialLink id={item.id} />
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
      <td class="num left" data-label="Key in use since">
        <Stamp at={item.lastRotationAt} />
      </td>
      <td class="num left" data-label="Next rotation">
        <Stamp at={item.nextRotationAt} />
      </td>
      <td>
        {objections(item).map((line) => (
          <div key={line}>
            <Sentence text={line} />
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
  const [head = "", ...lines] = audit.words;
  const span = from === undefined || until === undefined ? null : `${utcDay(from)} to ${utcDay(until)}`;
  return (
    <Panel id="audit" title="Audit log" aside={span === null ? null : <span class="faint">{span}</span>}>
      <p class={`fine ${isSound ? "" : "tone-trouble"}`}>
        <Icon shape={isSound ? "ok" : "trouble"} />
        <strong>{isSound ? "Intact" : "Not intact"}</strong>
        <span class="faint">{auditSentence(head)}</span>
      </p>
      {lines.length === 0 ? null : (
        <ul class="lines tight">
          {lines.map((line) => (
            <li key={line}>
              <Sentence text={line} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
