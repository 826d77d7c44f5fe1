import type { CDPSession, Page } from "playwright-core";

/**
 * How quick the page is, as whoever uses it feels it: from the link to the first content and to all of it, and the longest
 * task of its main thread while it is loaded, scrolled and zoomed. Nothing of it knows which server is behind.
 */
export interface LoadTimes {
  readonly firstContentMs: number;
  /** All rows are there, and the page answers. */
  readonly interactiveMs: number;
}

declare global {
  var firstContentAt: number | undefined;
}

/** Before anything of the page runs: when the first row or line is there is written down. */
export async function watchLoad(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const look = (): void => {
      if (document.querySelector(".overview .figures, .track, .credentials .name")) {
        globalThis.firstContentAt = performance.now();
      } else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Goes to an address and waits until all rows are there, and what this page is for: the first of `shown`. */
export async function loadTimes(page: Page, address: string, shown: string): Promise<LoadTimes> {
  await page.goto(address);
  await page.locator(".connection", { hasText: "Live" }).waitFor();
  await page.locator(shown).first().waitFor();
  // A turn of its own after everything that was to be done.
  return page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    return { firstContentMs: globalThis.firstContentAt ?? Number.NaN, interactiveMs: performance.now() };
  });
}

/** The longest task: by the clock, and by what it has worked itself, which others on the machine do not make longer. */
export interface LongestTask {
  readonly wallMs: number;
  readonly workMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** A browser has pages of its own too: ours is the process with this mark. */
const MARK = "keyturn-measured";

export async function longestTask(page: Page, act: () => Promise<unknown>): Promise<LongestTask> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the page has no browser");
  const session = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  // The protocol types it as maps of anything.
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "blink.user_timing"], excludedCategories: ["*"] },
  });
  await act();
  await page.evaluate((mark) => performance.mark(mark), MARK);
  await endTracing(session);
  await session.detach();
  const threads = new Map(
    events.filter(({ name }) => name === "thread_name").map(({ pid, tid, args }) => [`${pid} ${tid}`, args?.name]),
  );
  const own = events.find(({ name }) => name === MARK)?.pid;
  const tasks = events.filter(
    ({ name, pid, tid }) =>
      pid === own && name.endsWith("RunTask") && threads.get(`${pid} ${tid}`) === "CrRendererMain",
  );
  if (tasks.length === 0) throw new Error("nothing was traced");
  return {
    wallMs: Math.max(...tasks.map(({ dur = 0 }) => dur)) / 1000,
    workMs: Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000,
  };
}

async function endTracing(session: CDPSession): Promise<void> {
  const ended = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await ended;
}

/** With the wheel, as fast as hands do it. */
export async function scrollThrough(page: Page, turns: number): Promise<void> {
  await page.mouse.move(700, 500);
  for (let turn = 0; turn < turns; turn++) await page.mouse.wheel(0, 700);
}

/** In and out again and again, over the middle of what is meant, and in the end a little further in than at first. */
export async function zoomThrough(page: Page, meant: string, turns: number): Promise<void> {
  const place = page.locator(meant).first();
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox();
  if (!box) throw new Error(`${meant} is not in sight`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.keyboard.down("Control");
  for (let turn = 0; turn < turns; turn++) await page.mouse.wheel(0, turn % 20 < 10 ? -60 : 60);
  for (let turn = 0; turn < 3; turn++) await page.mouse.wheel(0, -60);
  await page.keyboard.up("Control");
}
