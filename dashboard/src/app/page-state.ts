import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { CredentialId, Overview, Row, Viewer } from "../../../src/dashboard/wire.ts";
import { Api, isUnknownViewer, RequestFailed, streamWordsOf } from "../access/api.ts";
import { type Access, accessAfterRefusal, findAccess, tabPlace, tokenOfHash } from "../access/session.ts";
import { wantedIn } from "../access/wanted.ts";
import { browserClock, chance, elapsed } from "../base/clock.ts";
import type { ListQuery } from "../list/list-query.ts";
import { RowIndex } from "../list/row-index.ts";
import { Attendance } from "../live/attendance.ts";
import { type ConnectionState, LiveConnection, ServerSilent } from "../live/live-connection.ts";
import { takeSlot } from "../live/live-slots.ts";
import { RowStore } from "../live/row-store.ts";
import { unreadWords } from "../parts/words.ts";
import { FuturesCache } from "../timeline/futures-cache.ts";
import { replace } from "./navigation.ts";

/**
 * What the page knows, and what draws it anew: the stream's messages go into the store as they come, and at most once a
 * frame those who show something of it are told. Must not: draw anything itself.
 */
export class PageState {
  readonly access: Signal<Access> = signal({ kind: "looking" });
  readonly connection: Signal<ConnectionState> = signal({ kind: "connecting" });
  readonly overview: Signal<Overview | undefined> = signal(undefined);
  readonly viewer: Signal<Viewer | undefined> = signal(undefined);
  /** Goes up with every change of rows. */
  readonly version = signal(0);
  readonly isComplete = signal(false);
  /** By the clock of the server; moves every second. */
  readonly now: Signal<number> = signal(browserClock.now());
  /** The latest thing to be said to who cannot see it. */
  readonly said = signal("");
  readonly futuresVersion = signal(0);
  /** Whom the server itself does not hear, in words; empty: what it tells is all there is. */
  readonly unread: ReadonlySignal<string> = computed(() => unreadWords(this.overview.value));
  readonly store = new RowStore();
  readonly #indexes = new Set<LiveIndex>();
  readonly #place = tabPlace(() => sessionStorage);
  readonly #wanted = wantedIn(() => localStorage, browserClock.now);
  #connection: LiveConnection | undefined;
  readonly #attendance = new Attendance({
    clock: browserClock,
    onAway: () => this.#connection?.rest(),
    onBack: () => this.#connection?.resume(),
  });
  #isFramePlanned = false;
  #drawnAt = 0;

  readonly api = new Api({
    fetch: (input, init) => fetch(input, init),
    clock: browserClock,
    token: () => this.#place.get(),
    onUnknown: () => void this.#loseAccess(),
  });

  readonly futures = new FuturesCache({
    clock: browserClock,
    ask: (request) => this.api.futures(request),
    onNews: () => {
      this.futuresVersion.value++;
    },
  });

  async start(): Promise<void> {
    this.#tick();
    addEventListener("online", () => this.#connection?.retryNow());
    this.#attend();
    // A fresh link in the address bar of a page that is open changes only this: nothing is loaded anew.
    addEventListener("hashchange", () => {
      if (tokenOfHash(location.hash) === undefined) return;
      this.#forget();
      void this.#begin();
    });
    await this.#begin();
  }

  async #begin(): Promise<void> {
    const linkToken = tokenOfHash(location.hash);
    if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
    const { wayIn, session } = this.api;
    const access = await findAccess({ place: this.#place, linkToken, wayIn, exchange: session });
    if (access.kind === "in" && linkToken !== undefined) {
      const wanted = this.#wanted.take();
      if (wanted !== undefined && location.pathname + location.search === "/") replace(wanted);
    }
    await this.#enter(access);
  }

  /** A page that nobody sees holds no stream: neither a hidden one, nor one that the browser keeps for a way back. */
  #attend(): void {
    const look = (): void => {
      if (document.hidden) this.#attendance.hidden();
      else {
        this.#attendance.seen();
        this.#connection?.retryNow();
      }
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("pagehide", () => this.#attendance.gone());
    addEventListener("pageshow", look);
    if (document.hidden) this.#attendance.gone();
  }

  /** With a token that somebody has pasted. */
  useToken(token: string): void {
    this.#place.set(token);
    void this.#enter({ kind: "in" });
  }

  async lookAgain(): Promise<void> {
    this.access.value = { kind: "looking" };
    const { wayIn, session } = this.api;
    await this.#enter(await findAccess({ place: this.#place, linkToken: undefined, wayIn, exchange: session }));
  }

  retryNow(): void {
    this.#connection?.retryNow();
  }

  /** Forgets the token, and all that was told to who has it. */
  async leave(): Promise<void> {
    await this.#loseAccess();
  }

  say(words: string): void {
    // The same words twice are two changes only if something else stood there between.
    this.said.value = this.said.value === words ? `${words}\u00a0` : words;
  }

  index(query: ListQuery): LiveIndex {
    return new LiveIndex(query, this.store.rows, this.version.peek());
  }

  /** What has changed since it was made is put in first. */
  follow(index: LiveIndex): () => void {
    if (index.version !== this.version.peek()) index.fillAnew(this.store.rows);
    this.#indexes.add(index);
    return () => this.#indexes.delete(index);
  }

  async #enter(access: Access): Promise<void> {
    this.access.value = access;
    if (access.kind === "needs-link") this.#wanted.keep(location.pathname + location.search);
    if (access.kind !== "in") return;
    this.#connection?.close();
    const connection = new LiveConnection({
      clock: browserClock,
      chance,
      open: async (signal) => {
        if (await takeSlot(navigator.locks, signal)) return this.api.live(signal);
        throw new RequestFailed(CROWDED, "Crowded");
      },
      isFinal: isUnknownViewer,
      wordsOf: (error) => (error instanceof ServerSilent ? error.message : streamWordsOf(error)),
      onMessages: (messages) => {
        for (const message of messages) {
          this.store.apply(message, browserClock.now());
          if (message.type === "reset") this.futures.clear();
        }
        this.#planFrame();
      },
      onState: (state) => {
        const before = this.connection.value;
        if (state.kind === "live" && before.kind === "live") return;
        this.connection.value = state;
        if (state.kind === "lost" && before.kind === "live") this.say("The connection is lost.");
        if (state.kind === "quiet") this.say("Nothing comes from the server.");
        if (state.kind === "live" && (before.kind === "lost" || before.kind === "quiet"))
          this.say("The connection is back.");
      },
      breathe,
    });
    this.#connection = connection;
    if (this.#attendance.isAway) connection.rest();
    await connection.run();
  }

  async #loseAccess(): Promise<void> {
    this.#forget();
    this.access.value = await accessAfterRefusal(this.api.wayIn);
    if (this.access.value.kind === "needs-link") this.#wanted.keep(location.pathname + location.search);
  }

  #forget(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#place.set(undefined);
    // What was said of a connection is not true of none.
    this.said.value = "";
    this.store.forget();
    this.futures.clear();
    this.#draw();
  }

  #planFrame(): void {
    if (this.#isFramePlanned) return;
    this.#isFramePlanned = true;
    const draw = (): void => {
      this.#isFramePlanned = false;
      this.#draw();
    };
    // While all rows are being told, to sort what is there after each part would be most of the work.
    const sinceMs = elapsed() - this.#drawnAt;
    const isTelling = !this.store.isComplete && this.#drawnAt > 0;
    if (isTelling && sinceMs < TELLING_PAUSE_MS) browserClock.after(TELLING_PAUSE_MS - sinceMs, draw);
    else if (document.hidden) browserClock.after(HIDDEN_PAUSE_MS, draw);
    else requestAnimationFrame(draw);
  }

  #draw(): void {
    const { store } = this;
    const changed = store.takeChanged();
    batch(() => {
      this.viewer.value = store.viewer;
      this.overview.value = store.overview;
      this.isComplete.value = store.isComplete;
      this.now.value = this.#serverNow();
      if (changed.size === 0) return;
      for (const index of this.#indexes) index.update(changed, store.rows);
      this.version.value++;
    });
    this.#drawnAt = elapsed();
  }

  #serverNow(): number {
    return browserClock.now() + this.store.aheadMs;
  }

  #tick(): void {
    this.now.value = this.#serverNow();
    browserClock.after(1000 - (this.now.peek() % 1000), () => this.#tick());
  }
}

const CROWDED =
  "This browser keeps four pages of this dashboard up to date at a time, and four others are in sight: close or cover one of them.";
const TELLING_PAUSE_MS = 150;
const HIDDEN_PAUSE_MS = 250;

/** A turn for whatever else wants one: input first, then drawing. */
const breathe = (): Promise<void> =>
  "scheduler" in globalThis && typeof globalThis.scheduler === "object"
    ? (globalThis.scheduler as { yield(): Promise<void> }).yield()
    : new Promise((resolve) => browserClock.after(0, resolve));

/** The rows of a query as a signal. */
export class LiveIndex {
  readonly #query: ListQuery;
  #index: RowIndex;
  readonly #ordered: Signal<readonly Row[]>;

  /** As of which version of all rows it was made. */
  readonly version: number;

  constructor(query: ListQuery, rows: ReadonlyMap<CredentialId, Row>, version: number) {
    this.version = version;
    this.#query = query;
    this.#index = new RowIndex(query, rows.values());
    this.#ordered = signal(this.#index.ordered);
  }

  get ordered(): ReadonlySignal<readonly Row[]> {
    return this.#ordered;
  }

  update(changed: ReadonlySet<CredentialId>, rows: ReadonlyMap<CredentialId, Row>): void {
    if (this.#index.update(changed, rows)) this.#ordered.value = this.#index.ordered;
  }

  fillAnew(rows: ReadonlyMap<CredentialId, Row>): void {
    this.#index = new RowIndex(this.#query, rows.values());
    this.#ordered.value = this.#index.ordered;
  }
}

export const PageContext = createContext<PageState | undefined>(undefined);

export function usePage(): PageState {
  const page = useContext(PageContext);
  if (!page) throw new Error("drawn outside of the page");
  return page;
}
