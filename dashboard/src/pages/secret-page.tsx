import type { JSX } from "preact";
import { useDerived, useLoaded } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import { ConsumerTable } from "../parts/consumer-table.tsx";
import { CredentialLink, PlacedName } from "../parts/names.tsx";
import { Empty, Notice, Unseen } from "../parts/notice.tsx";
import { Panel } from "../parts/panel.tsx";
import { Sentence } from "../parts/sentence.tsx";
import { Stamp, When } from "../parts/when.tsx";
import { formatRoute } from "../route/route.ts";

/** One Secret: whose key it holds, and who uses it. */
export function SecretPage({ namespace, name }: { namespace: string; name: string }): JSX.Element {
  const page = usePage();
  const tick = Math.floor(page.now.value / REFRESH_MS);
  const key = `${namespace}/${name}`;
  // Another row is of no interest here, and rows change all the time.
  const publisher = useDerived(() => {
    void page.version.value;
    return [...page.store.rows.values()].find(({ secret }) => secret === key);
  }, [page, key]).value;
  const keyId = publisher?.keys.find(({ state }) => state === "active")?.id;
  const mark = `${keyId} ${tick}`;
  const { value, failure, isLoading } = useLoaded(key, () => page.api.consumers(namespace, name), mark);
  return (
    <div class="page">
      <p class="over">
        <a href={formatRoute({ page: "consumers", namespace })}>Secrets of {namespace}</a>
      </p>
      <h1 tabIndex={-1}>
        <PlacedName name={name} namespace={namespace} />
      </h1>
      {failure ? <Notice tone="trouble">{failure}</Notice> : null}
      {isLoading && !failure ? <Empty>Reading it…</Empty> : null}
      {value ? (
        <>
          <p class="summary">
            {value.secret.isThere === false ? <span class="tone-trouble">The Secret is not there.</span> : null}
            {value.credential === undefined ? (
              <span>No credential of Keyturn's publishes it.</span>
            ) : (
              <span>
                published by <CredentialLink id={value.credential} />
              </span>
            )}
            {value.secret.publishedAt === undefined ? null : (
              <span>
                written <Stamp at={value.secret.publishedAt} />, <When at={value.secret.publishedAt} />
              </span>
            )}
            {value.secret.fingerprint === undefined ? null : (
              <span>
                fingerprint <span class="mono">{value.secret.fingerprint}</span>
              </span>
            )}
          </p>
          {value.notes.map((note) => (
            <Notice key={note}>
              <Sentence text={note} />
            </Notice>
          ))}
          <Panel id="who" title="Who uses it">
            <ConsumerTable consumers={value.consumers} />
            <Unseen lines={value.unseen} />
          </Panel>
        </>
      ) : null}
    </div>
  );
}

const REFRESH_MS = 15_000;
