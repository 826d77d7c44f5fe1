import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { CredentialView, ProtocolStep, Row } from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { adjust } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import { ConsumerTable } from "../parts/consumer-table.tsx";
import { KeyTable } from "../parts/key-table.tsx";
import { CredentialLink, SecretLink } from "../parts/names.tsx";
import { Empty, Notice, Unseen } from "../parts/notice.tsx";
import { Panel } from "../parts/panel.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { Stamp, When } from "../parts/when.tsx";
import { counted, factGroups, rowWords } from "../parts/words.ts";
import { stretchOf, type TimeRange } from "../time/time-range.ts";
import { KeyChart } from "../timeline/key-chart.tsx";
import { mergedKeys, withEnds, withPast } from "../timeline/merged-keys.ts";
import { TimeControls } from "../timeline/time-controls.tsx";

/** What is known of one credential, part by part. */
export function Details(props: {
  view: CredentialView;
  row: Row;
  range: TimeRange;
  /** Of one that is in order; it comes after all the rest. */
  lastFailure: string | undefined;
}): JSX.Element {
  const { view, row, range, lastFailure } = props;
  const page = usePage();
  const { from, until } = stretchOf(range, page.now.peek());
  useEffect(() => {
    const now = page.now.peek();
    page.futures.want([row], { sight: { from, until }, until: Math.max(until, now + range.spanMs), now });
  }, [page, row, range, from, until]);
  void page.futuresVersion.value;
  const future = page.futures.of(row);
  const keys = withPast(mergedKeys(view.keys, future), page.store.past(row.id));
  const names = useMemo(() => new Map(view.keys.map(({ id, name }) => [id, name])), [view]);
  const problems = view.facts.filter(({ isProblem }) => isProblem);
  return (
    <>
      {problems.map(({ text }) => (
        <Notice key={text} tone="trouble">
          <Sentence text={text} names={names} />
        </Notice>
      ))}
      {view.facts
        .filter(({ isWarning }) => isWarning)
        .map(({ text }) => (
          <Notice key={text}>
            <Sentence text={text} names={names} />
          </Notice>
        ))}
      {(row.warnings ?? []).map((warning) => (
        <Notice key={warning}>
          <Sentence text={warning} />
        </Notice>
      ))}
      {view.steps.length === 0 ? null : (
        <Panel id="protocol" title="In the protocol">
          <Steps steps={view.steps} />
        </Panel>
      )}
      <Panel
        id="chart"
        title="Keys over time"
        aside={
          <TimeControls range={range} onChange={(next) => adjust({ page: "credential", id: row.id, range: next })} />
        }
      >
        <KeyChart
          keys={keys}
          windows={future?.windows ?? view.windows}
          range={range}
          label={`Keys of ${row.name} over time: ${rowWords(row, view.at)}`}
          knownUntil={future?.until}
          onRange={(next) => adjust({ page: "credential", id: row.id, range: next })}
        />
      </Panel>
      <Explanation view={view} names={names} lastFailure={lastFailure} />
      <Panel id="keys" title="Keys">
        {view.keys.length === 0 ? (
          <Empty>There is no key yet.</Empty>
        ) : (
          <KeyTable keys={withEnds(view.keys, future)} more={view.moreKeys ?? 0} />
        )}
      </Panel>
      <Panel id="secret" title="Secret">
        <SecretFacts view={view} />
      </Panel>
      <Panel id="consumers" title="Consumers">
        <ConsumerTable consumers={view.consumers} />
        <Unseen lines={view.consumersUnseen} />
      </Panel>
      {view.children.length > 0 ? <Children view={view} /> : null}
      <Panel id="history" title="History">
        <History view={view} names={names} />
      </Panel>
    </>
  );
}

/** By id. */
type KeyNames = ReadonlyMap<string, string>;

interface ExplanationProps {
  readonly view: CredentialView;
  readonly names: KeyNames;
  readonly lastFailure: string | undefined;
}

const Explanation = ({ view, names, lastFailure }: ExplanationProps): JSX.Element => (
  <Panel
    id="explain"
    title="What happens next, and why"
    aside={
      <span class="faint">
        as of <When at={view.at} />
      </span>
    }
  >
    <dl class="facts wide">
      {factGroups(view.facts, lastFailure).map(({ about, texts }) => (
        <div key={about} class="fact">
          <dt>{about}</dt>
          {texts.map((text) => (
            <dd key={text}>
              <Sentence text={text} names={names} />
            </dd>
          ))}
        </div>
      ))}
    </dl>
  </Panel>
);

const STEP_NAMES: Readonly<Record<ProtocolStep["step"], string>> = {
  intend: "Intended",
  create: "Made",
  publish: "Published",
  activate: "Active",
  commit: "Committed",
};

const Steps = ({ steps }: { steps: readonly ProtocolStep[] }): JSX.Element => (
  <ol class="steps">
    {steps.map(({ step, state, words }) => (
      <li key={step} data-state={state} aria-current={state === "now" ? "step" : undefined}>
        <span class="step-name">{STEP_NAMES[step] ?? step}</span>
        <span class="step-state">{state}</span>
        <span class="step-words">
          <Sentence text={words} />
        </span>
      </li>
    ))}
  </ol>
);

function SecretFacts({ view: { secret } }: { view: CredentialView }): JSX.Element {
  if (!secret) return <Empty>It publishes none.</Empty>;
  return (
    <dl class="facts wide">
      <div class="fact">
        <dt>Name</dt>
        <dd>
          <SecretLink secret={`${secret.namespace}/${secret.name}`} />
          {secret.isThere === false ? <span class="tone-trouble"> is not there</span> : null}
          {secret.isThere === undefined ? <span class="faint"> may not be looked at</span> : null}
        </dd>
      </div>
      <div class="fact">
        <dt>Holds key</dt>
        <dd class="mono">{visible(secret.keyId ?? "unknown")}</dd>
      </div>
      <div class="fact">
        <dt>Fingerprint</dt>
        <dd class="mono">{visible(secret.fingerprint ?? "unknown")}</dd>
      </div>
      <div class="fact">
        <dt>Published</dt>
        <dd>
          {secret.publishedAt === undefined ? (
            "unknown"
          ) : (
            <>
              <Stamp at={secret.publishedAt} />, <When at={secret.publishedAt} />
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}

const Children = ({ view }: { view: CredentialView }): JSX.Element => (
  <Panel id="children" title="Children">
    <ul class="lines">
      {view.children.map(({ id, kind, name, state, words }) => (
        <li key={`${kind} ${name}`}>
          {id === undefined ? (
            <span>
              <bdi>{name}</bdi> <span class="kind">{kind}</span>
            </span>
          ) : (
            <CredentialLink id={id} />
          )}{" "}
          <span class="faint">
            {state}: <Sentence text={words} />
          </span>
        </li>
      ))}
    </ul>
  </Panel>
);

function History({ view: { history }, names }: { view: CredentialView; names: KeyNames }): JSX.Element {
  if (history.length === 0) return <Empty>Nothing is known of what was.</Empty>;
  return (
    <>
      <TableScroll label="History, as a table">
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col">Why</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {history.map((line) => (
              <tr key={`${line.at} ${line.what} ${line.keyId}`}>
                <td class="num left">
                  <Stamp at={line.at} />{" "}
                  <span class="faint">
                    <When at={line.at} />
                  </span>
                </td>
                <td>
                  <Sentence text={line.what} names={names} />
                  {line.outcome && line.outcome !== "done" ? <span class="faint"> ({line.outcome})</span> : null}
                </td>
                <td data-label="Why">
                  <Sentence text={line.reason ?? ""} />
                </td>
                <td class="faint" data-label="From">
                  {line.from === "audit" ? "audit log" : "status"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroll>
      <p class="faint">{counted(history.length, "line")}</p>
    </>
  );
}
