import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../../src/insight/words/visible.ts";
import { relative } from "../../../src/insight/words/when.ts";
import { EMPTY_QUERY } from "../list/list-query.ts";
import type { ConnectionState } from "../live/live-connection.ts";
import { ConsumersPage } from "../pages/consumers-page.tsx";
import { CredentialPage } from "../pages/credential-page.tsx";
import { CredentialsPage } from "../pages/credentials-page.tsx";
import { EvidencePage } from "../pages/evidence-page.tsx";
import { OverviewPage } from "../pages/overview-page.tsx";
import { SecretPage } from "../pages/secret-page.tsx";
import { TimelinePage } from "../pages/timeline-page.tsx";
import { WayInPage } from "../pages/way-in-page.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { formatRoute, type PageName, type Route } from "../route/route.ts";
import { Patterns } from "../timeline/legend.tsx";
import { route } from "./navigation.ts";
import { usePage } from "./page-state.ts";
import { Safe } from "./safe.tsx";

/** What is around every page: where one can go, whether what is shown is of now, and what is said to who cannot see it. */
const PLACES: readonly { readonly name: string; readonly route: Route; readonly pages: readonly PageName[] }[] = [
  { name: "Overview", route: { page: "overview" }, pages: ["overview"] },
  { name: "Timeline", route: { page: "timeline", query: EMPTY_QUERY }, pages: ["timeline"] },
  { name: "Credentials", route: { page: "credentials", query: EMPTY_QUERY }, pages: ["credentials", "credential"] },
  { name: "Consumers", route: { page: "consumers" }, pages: ["consumers", "secret"] },
  { name: "Evidence", route: { page: "evidence" }, pages: ["evidence"] },
];

export function Shell(): JSX.Element {
  const page = usePage();
  const access = page.access.value;
  const here = route.value;
  const isIn = access.kind === "in";
  useArrival(here, isIn ? "in" : access.kind);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="Keyturn, overview">
          <svg viewBox="0 0 22 16" width="22" height="16" aria-hidden="true" focusable="false">
            <path d="M0 2h13v4H0z" />
            <path class="second" d="M9 10h13v4H9z" />
          </svg>
          Keyturn
        </a>
        {isIn ? (
          <nav aria-label="Pages">
            {PLACES.map(({ name, route: to, pages }) => (
              <a
                key={name}
                href={formatRoute(to)}
                aria-current={pages.includes(here.page) ? "page" : undefined}
                data-name={name}
              >
                {name}
              </a>
            ))}
          </nav>
        ) : null}
        {isIn ? <ConnectionMark /> : null}
      </header>
      {isIn ? <ConnectionBanner /> : null}
      {isIn ? <UnreadBanner /> : null}
      <main id="content" tabIndex={-1}>
        {isIn ? (
          <Safe key={placeOf(here)}>
            <Current here={here} />
          </Safe>
        ) : (
          <WayInPage key={JSON.stringify(access)} access={access} />
        )}
      </main>
      <div class="hidden" role="status" aria-live="polite">
        {page.said}
      </div>
      <Patterns />
    </>
  );
}

function Current({ here }: { here: Route }): JSX.Element {
  switch (here.page) {
    case "overview":
      return <OverviewPage />;
    case "timeline":
      return <TimelinePage query={here.query} range={here.range} />;
    case "credentials":
      return <CredentialsPage query={here.query} />;
    case "credential":
      return <CredentialPage key={here.id} id={here.id} range={here.range} />;
    case "consumers":
      return <ConsumersPage namespace={here.namespace} />;
    case "secret":
      return <SecretPage key={`${here.namespace}/${here.name}`} namespace={here.namespace} name={here.name} />;
    case "evidence":
      return <EvidencePage maxPeriod={here.maxPeriod} />;
    case "nowhere":
      return (
        <div class="page">
          <h1 tabIndex={-1}>There is no such page</h1>
          <p>
            <bdi class="mono">{here.path}</bdi> leads nowhere. <a href="/">Overview</a>
          </p>
        </div>
      );
  }
}

const nameOf = (here: Route): string =>
  here.page === "credential"
    ? here.id.split("/").slice(1).join("/")
    : here.page === "secret"
      ? `${here.namespace}/${here.name}`
      : (PLACES.find(({ pages }) => pages.includes(here.page))?.name ?? "Keyturn");

/** The same place with another filter or range is no other place. */
const placeOf = (here: Route): string =>
  here.page === "credential" ? here.id : here.page === "secret" ? `${here.namespace}/${here.name}` : here.page;

/** Whoever comes to another page is at its heading, by eye and by ear. On the first one, focus stays where the browser puts it. */
function useArrival(here: Route, access: string): void {
  const before = useRef<string>();
  const place = placeOf(here);
  useEffect(() => {
    document.title = access === "in" ? `${nameOf(here)} · Keyturn` : "Keyturn";
  }, [here, access]);
  useEffect(() => {
    // Where not all places have room.
    document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [place, access]);
  useEffect(() => {
    if (access === "looking") return;
    const isFirst = before.current === undefined;
    before.current = `${access} ${place}`;
    if (!isFirst) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [place, access]);
}

function ConnectionMark(): JSX.Element {
  const page = usePage();
  const { kind } = page.connection.value;
  const { tone, shape, word } = connectionLook(kind, page.isComplete.value, page.unread.value !== "");
  const viewer = page.viewer.value;
  return (
    <div class="who">
      {viewer?.cluster === undefined ? null : (
        <bdi class="cluster" title={`The cluster ${visible(viewer.cluster)}`}>
          {visible(viewer.cluster)}
        </bdi>
      )}
      {viewer ? (
        <bdi class="viewer" title={`You are ${viewer.name}`}>
          {viewer.name}
        </bdi>
      ) : null}
      <span class={`connection ${tone}`} title={word}>
        <Icon shape={shape} />
        <span>{word}</span>
      </span>
    </div>
  );
}

const agoWords = (at: number, now: number): string => (now - at < 1000 ? "a moment ago" : relative(at, now));

/** Nothing is called live that is not heard of now, from the cluster to the page. */
function connectionLook(kind: ConnectionState["kind"], isComplete: boolean, isUnread: boolean): ConnectionLook {
  if (kind === "lost") return { tone: "lost", shape: "trouble", word: "Connection lost" };
  if (kind === "quiet") return { tone: "lost", shape: "trouble", word: "Nothing heard" };
  if (kind !== "live") return { tone: "connecting", shape: "turning", word: "Connecting" };
  if (isUnread) return { tone: "lost", shape: "trouble", word: "Page live, cluster not heard" };
  return isComplete ? { tone: "live", shape: "ok", word: "Live" } : { tone: "live", shape: "turning", word: "Reading" };
}

interface ConnectionLook {
  readonly tone: "live" | "lost" | "connecting";
  readonly shape: "ok" | "trouble" | "turning";
  readonly word: string;
}

function ConnectionBanner(): JSX.Element | null {
  const page = usePage();
  const state = page.connection.value;
  const local = page.now.value - page.store.aheadMs;
  if (state.kind === "quiet") {
    return (
      <section class="banner" aria-label="Connection">
        <Notice tone="trouble" isSilent>
          <span>The server was heard last {agoWords(state.since, local)}. What you see may be older than now.</span>
        </Notice>
      </section>
    );
  }
  if (state.kind !== "lost") return null;
  return (
    <section class="banner" aria-label="Connection">
      <Notice tone="trouble" isSilent>
        <span>
          {state.why} What you see is as it was {agoWords(state.since, local)}. The next attempt is{" "}
          {relative(state.retryAt, local)}.
        </span>
        <button type="button" class="plain" onClick={() => page.retryNow()}>
          Try now
        </button>
      </Notice>
    </section>
  );
}

/** The page hears its server, and that does not hear the cluster. */
function UnreadBanner(): JSX.Element | null {
  const page = usePage();
  const { value } = page.unread;
  const silentSince = page.overview.value?.operator.silentSince;
  if (value === "" || page.connection.value.kind !== "live") return null;
  return (
    <section class="banner" aria-label="Cluster">
      <Notice tone="trouble" isSilent>
        <span>
          What you see may be out of date, or not all there is. {value}
          {silentSince === undefined ? "" : `. The cluster was heard last ${agoWords(silentSince, page.now.value)}.`}
        </span>
      </Notice>
    </section>
  );
}
