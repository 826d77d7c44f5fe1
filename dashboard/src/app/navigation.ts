import { type Signal, signal } from "@preact/signals";
import { browserClock } from "../base/clock.ts";
import { formatRoute, parseRoute, type Route } from "../route/route.ts";

/** Where one is, and how to get elsewhere without a reload. Links are plain links: what opens them in another tab works too. */
export const route: Signal<Route> = signal({ page: "overview" });

const here = (): Route => parseRoute(location.pathname, location.search);

export function startNavigation(): void {
  route.value = here();
  addEventListener("popstate", () => {
    route.value = here();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

export function go(path: string): void {
  if (path !== location.pathname + location.search) history.pushState(undefined, "", path);
  route.value = here();
  scrollTo(0, 0);
}

/** To another address, as if this one had been it. */
export function replace(path: string): void {
  history.replaceState(history.state, "", path);
  route.value = here();
}

let takeBack: (() => void) | undefined;

/**
 * The same page with another filter or range. The address follows a moment later: browsers allow only so many changes of it,
 * and one who scrolls through time makes hundreds.
 */
export function adjust(next: Route): void {
  route.value = next;
  takeBack?.();
  takeBack = browserClock.after(250, () => {
    if (route.peek() === next) history.replaceState(history.state, "", formatRoute(next));
  });
}
