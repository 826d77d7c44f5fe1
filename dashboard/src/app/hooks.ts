import { computed, type ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { type Inputs, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { CredentialId, KeyBar, Row } from "../../../src/dashboard/wire.ts";
import { wordsOf } from "../access/api.ts";
import { browserClock } from "../base/clock.ts";
import type { ListQuery } from "../list/list-query.ts";
import { Asker } from "../live/asker.ts";
import { retirementOf } from "../parts/retirement.ts";
import { usePage } from "./page-state.ts";

/** The rows of a query, kept up to date. */
export function useRows(query: ListQuery): ReadonlySignal<readonly Row[]> {
  const page = usePage();
  const key = JSON.stringify(query);
  const index = useMemo(() => page.index(query), [page, key]);
  useLayoutEffect(() => page.follow(index), [page, index]);
  return index.ordered;
}

/** What follows from signals and from what is given; made anew when the latter changes. */
export function useDerived<T>(derive: () => T, inputs: Inputs): ReadonlySignal<T> {
  return useMemo(() => computed(derive), inputs);
}

export function useRow(id: CredentialId): Row | undefined {
  const page = usePage();
  const row = useDerived(() => {
    void page.version.value;
    return page.store.rows.get(id);
  }, [page, id]);
  return row.value;
}

/** As which key of its parent a row is retired. Who has no parent is not drawn anew by others' changes. */
export function useRetirement(row: Row): KeyBar | undefined {
  const page = usePage();
  return useDerived(() => {
    if (row.parent === undefined) return undefined;
    void page.version.value;
    return retirementOf(row, page.store.rows.get(row.parent));
  }, [page, row]).value;
}

/** The inner size of an element, as it changes. */
export function useSize(): [RefObject<HTMLDivElement>, { readonly width: number; readonly height: number }] {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const listen = (): void => setMatches(list.matches);
    listen();
    list.addEventListener("change", listen);
    return () => list.removeEventListener("change", listen);
  }, [query]);
  return matches;
}

export const useNarrow = (): boolean => useMedia("(max-width: 720px)");

/** Also that of a small window beside another. */
export const useMiddling = (): boolean => useMedia("(max-width: 1100px)");

export interface Loaded<T> {
  readonly value?: T;
  readonly failure?: string;
  readonly isLoading: boolean;
  reload(): void;
}

/** From an answer to the next question. */
const PAUSE_MS = 120;

/**
 * What a request answers; asked again when `key` changes, and when `mark` does. What was there stays in sight until the new
 * answer comes; what was there of another key does not.
 */
export function useLoaded<T>(key: string, ask: () => Promise<T>, mark: unknown = undefined): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; failure?: string }>({ key });
  const latest = useRef(ask);
  latest.current = ask;
  const asker = useMemo(
    () =>
      new Asker<T>({
        clock: browserClock,
        pauseMs: PAUSE_MS,
        ask: () => latest.current(),
        onAnswer: (value) => setState({ key, value }),
        onFailure: (error) =>
          setState((before) => ({ ...(before.key === key ? before : {}), key, failure: wordsOf(error) })),
      }),
    [key],
  );
  useEffect(() => () => asker.stop(), [asker]);
  useEffect(() => asker.want(), [asker, mark]);
  const reload = (): void => asker.want();
  if (state.key !== key) return { isLoading: true, reload };
  return { ...state, isLoading: state.value === undefined && state.failure === undefined, reload };
}
