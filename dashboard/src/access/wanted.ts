/**
 * The address at which somebody came without a way in, for the link that they open next: it leads to the first page, and is
 * opened in a tab of its own. Only the path is kept, for as long as it takes to go to the terminal. Must not: keep a token.
 */
export interface Wanted {
  keep(path: string): void;
  /** Once, and only while it is young. */
  take(): string | undefined;
}

const KEY = "keyturn-wanted";
const KEPT_MS = 10 * 60_000;
/** A place of this page: what begins with two signs would be another host. */
const PLACE = /^\/[^/\\]/;

export function wantedIn(
  storage: () => Pick<Storage, "getItem" | "setItem" | "removeItem">,
  now: () => number,
): Wanted {
  return {
    keep: (path) => {
      try {
        if (PLACE.test(path)) storage().setItem(KEY, `${now()} ${path}`);
      } catch {
        // A browser that keeps nothing begins at the first page.
      }
    },
    take: () => {
      try {
        const [at = "", path = ""] = (storage().getItem(KEY) ?? "").split(/ (.*)/s);
        storage().removeItem(KEY);
        const ageMs = now() - Number(at);
        return PLACE.test(path) && ageMs >= 0 && ageMs < KEPT_MS ? path : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
