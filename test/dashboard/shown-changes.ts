import type { Browser, Page } from "playwright-core";
import type { KubeObject } from "../../src/kube/objects.ts";
import { listBindings, type Place } from "../bench/many-bindings.ts";
import { retiredKey, writeStatus } from "../bench/past-keys.ts";
import type { Worst } from "../bench/worst.ts";
import { openPage } from "./browser.ts";
import type { Site } from "./page-speed.ts";

/** Where a change of one credential is looked for, and what is there when it has so many retired keys. */
interface Onlook {
  readonly name: string;
  readonly path: string;
  shown(retired: number): { readonly selector: string; readonly text?: string };
}

/** How long the page is left alone between two changes: by turns they meet what it does every so often. */
const PAUSES_MS = [700, 1100, 450, 1600, 900];

export interface ShownChangesOptions {
  readonly place: Place;
  /** The name of the credential that is changed; nobody else's begins with it. */
  readonly name: string;
  /** How many changes each page is shown. */
  readonly turns: number;
}

/**
 * How long it takes until a page shows what has changed: a status is written, a watch of our own tells when the API server
 * has told of it, and the page when it was drawn. The clock of both is that of this machine.
 */
export async function measureChanges(
  browser: Browser,
  site: Site,
  worst: Worst,
  options: ShownChangesOptions,
): Promise<void> {
  const { place, name } = options;
  const binding = (await listBindings(place)).find(({ metadata }) => metadata.name === name);
  if (!binding) throw new Error(`there is no binding ${name}`);
  const before = retiredIn(binding);
  const all = (await listBindings(place)).reduce((sum, one) => sum + retiredIn(one).length, 0) - before.length;
  for (const onlook of onlooksOf(site, name, all)) {
    const { page, context } = await openPage(browser);
    await site.enter(page);
    await page.goto(`${site.url}${onlook.path}`);
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    const added: object[] = [];
    for (let turn = 1; turn <= options.turns; turn++) {
      added.push(retiredKey({ id: `shown-${turn}`, name: `shown-${turn}`, createdAt: dateOf(turn) }));
      await page.waitForTimeout(PAUSES_MS[turn % PAUSES_MS.length] ?? 0);
      const { sinceEventMs, sinceWriteMs } = await showChange(page, onlook, place, {
        binding,
        retiredKeys: [...before, ...added],
      });
      worst.note("a change: ms from its watch event until it is shown", sinceEventMs, "<= 500");
      worst.note(`a change, ${onlook.name}: ms from its watch event until it is shown`, sinceEventMs);
      worst.note(`a change, ${onlook.name}: ms from its write until it is shown`, sinceWriteMs);
    }
    await context.close();
    await writeStatus(place, binding, { retiredKeys: before });
  }
}

const DAY_MS = 86_400_000;
/** Replaced half a day ago, each a minute after the one before. */
const dateOf = (turn: number): number => Date.now() - 30.5 * DAY_MS + turn * 60_000;

const retiredIn = ({ status }: KubeObject): readonly object[] =>
  (status as { readonly retiredKeys?: readonly object[] } | undefined)?.retiredKeys ?? [];

const onlooksOf = (site: Site, name: string, others: number): readonly Onlook[] => [
  {
    name: "overview",
    path: "/",
    shown: (retired) => ({
      selector: ".overview .figures dd",
      text: (others + retired).toLocaleString("en-US"),
    }),
  },
  {
    name: "timeline",
    path: `/timeline?q=${name}`,
    shown: (retired) => ({ selector: `.track[aria-label*="; ${retired} retired keys"]` }),
  },
  {
    name: "credentials",
    path: `/credentials?q=${name}`,
    shown: (retired) => ({ selector: `.c-retired [title="${retired} retired keys"]` }),
  },
  {
    name: "one credential",
    path: site.credentialPath,
    // The two that were there before have other names.
    shown: (retired) => ({ selector: "[aria-labelledby='keys'] th bdi", text: `shown-${retired - 2}` }),
  },
];

interface Change {
  readonly binding: KubeObject;
  readonly retiredKeys: readonly object[];
}

async function showChange(page: Page, onlook: Onlook, place: Place, change: Change) {
  const shown = page.evaluate(drawnAt, onlook.shown(change.retiredKeys.length));
  // Whatever goes wrong first is what is told.
  shown.catch(() => {});
  const { toldAt } = await openWatch(place, change);
  const sentAt = Date.now();
  await writeStatus(place, change.binding, { retiredKeys: change.retiredKeys });
  const [eventAt, shownAt] = await Promise.all([toldAt, shown]);
  return { sinceEventMs: shownAt - eventAt, sinceWriteMs: shownAt - sentAt };
}

/** In the page: resolves to when this was drawn. It must not be there yet. */
function drawnAt({ selector, text }: { selector: string; text?: string }): Promise<number> {
  const isThere = (): boolean =>
    [...document.querySelectorAll(selector)].some((element) => text === undefined || element.textContent === text);
  if (isThere()) throw new Error(`${selector} ${text ?? ""} is there before the change`);
  return new Promise((resolve) => {
    const look = (): void => {
      if (isThere()) setTimeout(() => resolve(Date.now()));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Resolves once it is open; `toldAt` then to when it told of the change. */
async function openWatch(
  { kube, family }: Place,
  { binding, retiredKeys }: Change,
): Promise<{ readonly toldAt: Promise<number> }> {
  const fieldSelector = `metadata.name=${binding.metadata.name}`;
  const { resourceVersion } = await kube.list(family.type, { fieldSelector });
  const opened = Promise.withResolvers<void>();
  const listen = async (): Promise<number> => {
    const watch = kube.watch(family.type, { fieldSelector, resourceVersion, onOpen: () => opened.resolve() });
    for await (const event of watch) {
      if (event.type === "MODIFIED" && retiredIn(event.object).length === retiredKeys.length) return Date.now();
    }
    throw new Error("the watch ended before it had told of the change");
  };
  const toldAt = listen();
  toldAt.catch(opened.reject);
  await opened.promise;
  return { toldAt };
}
