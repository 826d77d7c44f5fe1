import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Row } from "../../../src/dashboard/wire.ts";
import { useLoaded } from "../app/hooks.ts";
import { go } from "../app/navigation.ts";
import { usePage } from "../app/page-state.ts";
import { SecretLink } from "../parts/names.tsx";
import { Empty, Notice, Unseen } from "../parts/notice.tsx";
import { Panel } from "../parts/panel.tsx";
import { counted, grouped } from "../parts/words.ts";
import { credentialPath, formatRoute } from "../route/route.ts";

/** From Secrets to who uses them, and from workloads back to the Secrets. */
const FEW = 100;

export function ConsumersPage({ namespace }: { namespace?: string | undefined }): JSX.Element {
  const page = usePage();
  const version = page.version.value;
  const isComplete = page.isComplete.value;
  const secrets = useMemo(() => secretsOf(page.store.rows.values()), [page, version]);
  const counts = useMemo(() => countsOf(secrets), [secrets]);
  const chosen = namespace ?? counts[0]?.[0];
  return (
    <div class="page">
      <h1 tabIndex={-1}>Consumers</h1>
      <p class="lead">Which workloads use each Secret, and which Secrets each workload uses.</p>
      {secrets.length === 0 ? (
        <Empty>
          {!isComplete
            ? "Reading credentials…"
            : page.unread.value === ""
              ? "No Secret is published yet."
              : "Nothing was read yet."}
        </Empty>
      ) : (
        <>
          <label class="field inline">
            <span>Namespace</span>
            <select
              value={chosen}
              onChange={(event) => go(formatRoute({ page: "consumers", namespace: event.currentTarget.value }))}
            >
              {counts.map(([name, count]) => (
                <option key={name} value={name}>
                  {name} ({grouped(count)})
                </option>
              ))}
              {chosen !== undefined && !counts.some(([name]) => name === chosen) ? (
                <option value={chosen}>{chosen}</option>
              ) : null}
            </select>
          </label>
          {chosen === undefined ? null : (
            <div class="halves">
              <Secrets key={`s ${chosen}`} rows={secrets.filter(({ secret }) => secret?.startsWith(`${chosen}/`))} />
              <Workloads key={`w ${chosen}`} namespace={chosen} />
            </div>
          )}
        </>
      )}
    </div>
  );
}

const secretsOf = (rows: Iterable<Row>): readonly Row[] =>
  [...rows]
    .filter(({ secret }) => secret?.includes("/"))
    .sort((a, b) => ((a.secret ?? "") < (b.secret ?? "") ? -1 : 1));

function countsOf(rows: readonly Row[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { secret = "" } of rows) {
    const namespace = secret.slice(0, secret.indexOf("/"));
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

function Secrets({ rows }: { rows: readonly Row[] }): JSX.Element {
  const [search, setSearch] = useState("");
  const found = rows.filter(({ secret = "", id }) => `${secret} ${id}`.toLowerCase().includes(search.toLowerCase()));
  return (
    <Panel id="secrets" title="Secrets" aside={<span class="faint">{counted(rows.length, "Secret")}</span>}>
      <label class="field search">
        <span class="hidden">Search Secrets</span>
        <input
          type="search"
          placeholder="Search Secrets"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      {found.length === 0 ? <Empty>None is like that.</Empty> : null}
      <ul class="lines">
        {found.slice(0, FEW).map((row) => (
          <li key={row.id} class="pair two">
            <SecretLink secret={row.secret} isShort />
            <PublishedBy row={row} />
          </li>
        ))}
      </ul>
      {found.length > FEW ? <p class="faint">{counted(found.length - FEW, "more", "more")}: search for them.</p> : null}
    </Panel>
  );
}

const PublishedBy = ({ row: { id, kind, name } }: { row: Row }): JSX.Element => (
  <span class="faint">
    published by{" "}
    <a href={credentialPath(id)}>
      <bdi>{name}</bdi>
    </a>{" "}
    <span class="kind">{kind}</span>
  </span>
);

function Workloads({ namespace }: { namespace: string }): JSX.Element {
  const page = usePage();
  const { value, failure, isLoading } = useLoaded(namespace, () => page.api.workloads(namespace));
  return (
    <Panel id="workloads" title="Workloads">
      {failure ? <Notice tone="trouble">{failure}</Notice> : null}
      {isLoading ? <Empty>Reading workloads…</Empty> : null}
      {value?.workloads.length === 0 ? <Empty>No workload that can be seen uses a published Secret.</Empty> : null}
      <ul class="lines">
        {value?.workloads.slice(0, FEW).map(({ kind, name, secrets }) => (
          <li key={`${kind} ${name}`}>
            <div>
              <bdi>{name}</bdi> <span class="kind">{kind}</span>
            </div>
            <div class="faint">
              uses{" "}
              {secrets.map(({ secret }, index) => (
                <span key={secret}>
                  {index > 0 ? ", " : ""}
                  <SecretLink secret={secret.includes("/") ? secret : `${namespace}/${secret}`} isShort />
                </span>
              ))}
            </div>
          </li>
        ))}
      </ul>
      {value && value.workloads.length > FEW ? (
        <p class="faint">{counted(value.workloads.length - FEW, "more", "more")}</p>
      ) : null}
      <Unseen lines={value?.unseen} />
    </Panel>
  );
}
