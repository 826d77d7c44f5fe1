import type { JSX } from "preact";
import {
  type OperatorView,
  type Overview,
  TROUBLE_GROUPS,
  type TroubleGroup,
  type TroubleLine,
  type Upcoming,
} from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { usePage } from "../app/page-state.ts";
import { EMPTY_QUERY } from "../list/list-query.ts";
import { figuresOf } from "../parts/figures.ts";
import { Icon } from "../parts/icon.tsx";
import { CredentialLink } from "../parts/names.tsx";
import { Empty, Unseen } from "../parts/notice.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { Age, When } from "../parts/when.tsx";
import { counted, grouped, leaderWords, queueWords, TROUBLE_WORDS, upcomingWords } from "../parts/words.ts";
import { formatRoute } from "../route/route.ts";

/** What needs somebody first, then what comes, then how the operator is. */
export function OverviewPage(): JSX.Element {
  const page = usePage();
  const overview = page.overview.value;
  if (!overview) {
    return (
      <div class="page">
        <h1 tabIndex={-1}>Overview</h1>
        <Empty>Reading the cluster…</Empty>
      </div>
    );
  }
  const troubled = overview.kinds.reduce((sum, kind) => sum + kind.troubled, 0);
  const total = overview.kinds.reduce((sum, { count }) => sum + count, 0);
  const hasTroubles = overview.troubles.length > 0;
  return (
    <div class="page overview">
      <h1 tabIndex={-1}>
        {hasTroubles ? (
          <span class="tone-trouble">
            <Icon shape="trouble" size={22} />
          </span>
        ) : null}
        {headline(total, troubled, page.unread.value === "")}
      </h1>
      <Figures overview={overview} total={total} />
      <Unseen lines={page.viewer.value?.unseen} />
      <div class="columns">
        <div>
          <Troubles overview={overview} />
        </div>
        <div>
          <section aria-labelledby="coming">
            <h2 id="coming">Coming up</h2>
            {overview.upcoming.map((one) => (
              <Coming key={one.span} upcoming={one} />
            ))}
          </section>
        </div>
        <div>
          <Kinds overview={overview} />
          <OperatorState operator={overview.operator} />
        </div>
      </div>
    </div>
  );
}

function headline(total: number, troubled: number, isAll: boolean): string {
  if (total === 0) return isAll ? "There are no credentials yet" : "Nothing was read yet";
  if (troubled === 0 && !isAll) return `${counted(total, "credential")} without a problem, as far as they were read`;
  if (troubled === 0)
    return total === 1 ? "The one credential is in order" : `All ${counted(total, "credential")} are in order`;
  return `${grouped(troubled)} of ${counted(total, "credential")} ${troubled === 1 ? "has a problem" : "have problems"}`;
}

function Figures({ overview, total }: { overview: Overview; total: number }): JSX.Element {
  return (
    <dl class="figures">
      {figuresOf(overview, total).map(({ name, count, query }) => (
        <div key={name} data-none={count === 0}>
          <dt>{name}</dt>
          <dd>
            {query ? (
              <a href={formatRoute({ page: "credentials", query })} aria-label={`${grouped(count)} ${name}`}>
                {grouped(count)}
              </a>
            ) : (
              grouped(count)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Troubles({ overview }: { overview: Overview }): JSX.Element {
  const page = usePage();
  const groups = TROUBLE_GROUPS.filter((group) => (overview.troubleCounts[group] ?? 0) > 0);
  return (
    <section aria-labelledby="troubles" class={groups.length > 0 ? "grave" : undefined}>
      <h2 id="troubles">Problems</h2>
      {groups.length === 0 ? (
        <p class="fine">
          {page.unread.value === "" ? (
            <>
              <Icon shape="ok" /> None. Nothing is overdue, failing or held back.
            </>
          ) : (
            "None in what was read."
          )}
        </p>
      ) : (
        groups.map((group) => (
          <TroubleGroupView
            key={group}
            group={group}
            count={overview.troubleCounts[group] ?? 0}
            lines={overview.troubles.filter((line) => line.group === group)}
          />
        ))
      )}
    </section>
  );
}

const SHOWN = 8;

function TroubleGroupView(props: { group: TroubleGroup; count: number; lines: readonly TroubleLine[] }): JSX.Element {
  const { title, what } = TROUBLE_WORDS[props.group] ?? { title: props.group, what: "" };
  const shown = props.lines.slice(0, SHOWN);
  const more = props.count - shown.length;
  return (
    <section class="trouble-group">
      <h3 title={what}>
        <Icon shape="trouble" /> {title} <span class="badge">{grouped(props.count)}</span>
      </h3>
      <ul class="lines">
        {shown.map((line) => (
          <li key={`${line.id} ${line.reason}`}>
            <div class="line-head">
              {line.id === undefined ? <span>The operator itself</span> : <CredentialLink id={line.id} />}
              {line.since === undefined ? null : (
                <span class="faint">
                  for <Age since={line.since} />
                </span>
              )}
            </div>
            <div class="line-text">
              <bdi class="reason">{visible(line.reason)}</bdi>: <Sentence text={line.message} />
            </div>
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <a href={formatRoute({ page: "credentials", query: { ...EMPTY_QUERY, state: "troubled" } })}>
          {grouped(more)} more<span class="hidden"> of {title}</span>
        </a>
      ) : null}
    </section>
  );
}

const SPANS: Readonly<Record<Upcoming["span"], string>> = {
  hour: "In the next hour",
  day: "After that, within a day",
  month: "After that, within 30 days",
};

const COMING = { rotation: "rotation", deletion: "old key goes" } as const;

const NEXT_SHOWN = { hour: 8, day: 6, month: 4 } as const;

function Coming({ upcoming }: { upcoming: Upcoming }): JSX.Element {
  const { span, rotations, deletions, next } = upcoming;
  const shown = next.slice(0, NEXT_SHOWN[span]);
  const more = rotations + deletions - shown.length;
  return (
    <section class="coming">
      <h3>{SPANS[span]}</h3>
      <p class="sum">{upcomingWords(upcoming)}</p>
      <ul class="lines tight">
        {shown.map(({ id, at, what }) => (
          <li key={`${id} ${at} ${what}`} class="pair">
            <span class="faint what">{COMING[what]}</span>
            <CredentialLink id={id} />
            <span class="num">
              <When at={at} />
            </span>
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <a href={formatRoute({ page: "credentials", query: { ...EMPTY_QUERY, sort: "next" } })}>
          {grouped(more)} more<span class="hidden"> {SPANS[span].toLowerCase()}</span>
        </a>
      ) : null}
    </section>
  );
}

function Kinds({ overview }: { overview: Overview }): JSX.Element {
  return (
    <section aria-labelledby="kinds">
      <h2 id="kinds">Kinds</h2>
      {overview.kinds.length === 0 ? <Empty>None yet.</Empty> : null}
      <table class="plain-table">
        <thead class="hidden">
          <tr>
            <th scope="col">Kind</th>
            <th scope="col">Credentials</th>
            <th scope="col">With a problem</th>
          </tr>
        </thead>
        <tbody>
          {overview.kinds.map(({ kind, count, troubled }) => (
            <tr key={kind}>
              <th scope="row">
                <a href={formatRoute({ page: "credentials", query: { ...EMPTY_QUERY, kind } })}>{kind}</a>
              </th>
              <td class="num">{grouped(count)}</td>
              <td class="num">
                {troubled > 0 ? (
                  <span class="tone-trouble">{counted(troubled, "problem")}</span>
                ) : (
                  <span class="faint">no problem</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A server tells its time in whole seconds, and that takes a moment to arrive: what is less than this is nothing. */
const KNOWN_TO_MS = 2000;

function OperatorState({ operator }: { operator: OperatorView }): JSX.Element {
  const page = usePage();
  const late = operator.watches.filter(({ isReady }) => !isReady);
  const { leader, queues, clockSkewMs, silentSince } = operator;
  return (
    <section aria-labelledby="operator">
      <h2 id="operator">Operator</h2>
      <dl class="facts">
        <dt>Leader</dt>
        <dd class={leader && !leader.isStale ? undefined : "tone-trouble"}>
          <bdi>{leaderWords(operator, page.now.value)}</bdi>
          {leader?.isStale ? ": it has stopped renewing. Is the operator running?" : ""}
        </dd>
        <dt>Watches</dt>
        <dd class={late.length > 0 || silentSince !== undefined ? "tone-trouble" : undefined}>
          {operator.watches.length === 0
            ? "none"
            : late.length === 0
              ? silentSince === undefined
                ? `all ${operator.watches.length} are up to date`
                : `nothing was heard of the cluster for ${shortLength(page.now.value - silentSince)}`
              : late.map(({ kind, words }) => `${kind}: ${words}`).join("; ")}
        </dd>
        <dt>Queue</dt>
        <dd>
          {queueWords(queues).map((line) => (
            <div key={line}>{line}</div>
          ))}
        </dd>
        <dt>Last drift check</dt>
        <dd>{operator.lastDriftCheckAt === undefined ? "unknown" : <When at={operator.lastDriftCheckAt} />}</dd>
        <dt>Clock</dt>
        <dd class={clockSkewMs !== undefined && Math.abs(clockSkewMs) > 5000 ? "tone-trouble" : undefined}>
          {clockSkewMs === undefined
            ? "unknown"
            : Math.abs(clockSkewMs) < KNOWN_TO_MS
              ? "agrees with the API server"
              : `${shortLength(clockSkewMs)} away from the API server's`}
        </dd>
        <dt>Version</dt>
        <dd>
          {operator.version}
          {operator.seenFrom === "command" ? ", seen from the command" : ""}
        </dd>
      </dl>
    </section>
  );
}
