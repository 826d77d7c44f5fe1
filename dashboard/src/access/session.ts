import type { SessionAnswer, WayIn } from "../../../src/dashboard/wire.ts";
import { RequestFailed, wordsOf } from "./api.ts";

/**
 * How the page comes to a token, and where it stays: in this tab alone. That of a link is good for one exchange, and leaves
 * the address bar before anything else happens, so that nobody copies it with the address.
 */
export type Access =
  | { readonly kind: "looking" }
  | { readonly kind: "in" }
  /** The way in is a link; this one was none, or was used already. */
  | { readonly kind: "needs-link"; readonly line: string }
  | { readonly kind: "needs-token"; readonly line?: string }
  | { readonly kind: "unreachable"; readonly line: string };

export interface TokenPlace {
  get(): string | undefined;
  set(token: string | undefined): void;
}

interface SessionOptions {
  readonly place: TokenPlace;
  /** The token of the link, where there was one. */
  readonly linkToken: string | undefined;
  wayIn(): Promise<WayIn>;
  exchange(token: string): Promise<SessionAnswer>;
}

const USED =
  "This link was used already, or is not from this server: each one works once. The terminal shows a fresh one.";
const NO_LINK =
  "The way in is the link that the terminal shows where the dashboard was started. It works once, and then for that tab alone.";
const ENDED = "This session is over. Open the link that the terminal shows, or start the dashboard again.";
const EXPIRED = "Your token is not valid any more. Paste another one.";

export async function findAccess({ place, linkToken, wayIn, exchange }: SessionOptions): Promise<Access> {
  try {
    if (linkToken !== undefined) {
      place.set(undefined);
      place.set((await exchange(linkToken)).token);
      return { kind: "in" };
    }
    if (place.get() !== undefined) return { kind: "in" };
    return (await wayIn()).by === "link" ? { kind: "needs-link", line: NO_LINK } : { kind: "needs-token" };
  } catch (error) {
    const isRefused = error instanceof RequestFailed && error.status !== undefined && error.status < 500;
    if (linkToken !== undefined && isRefused && error.status !== 421) return { kind: "needs-link", line: USED };
    return { kind: "unreachable", line: wordsOf(error) };
  }
}

/** What is to be done once the server does not know the token any more. */
export async function accessAfterRefusal(wayIn: () => Promise<WayIn>): Promise<Access> {
  const by = await wayIn().then(
    (answer) => answer.by,
    () => "link" as const,
  );
  return by === "link" ? { kind: "needs-link", line: ENDED } : { kind: "needs-token", line: EXPIRED };
}

/** `#token=…` of an address; whatever else stands there is none. */
export const tokenOfHash = (hash: string): string | undefined => /^#token=([\w.~+/=-]+)$/.exec(hash)?.[1];

/** What somebody has pasted, without the white space around it; undefined where it cannot be a token. */
export function pastedToken(text: string): string | undefined {
  const token = text.trim();
  return /^[\x21-\x7e]{1,16384}$/.test(token) ? token : undefined;
}

const KEY = "keyturn-token";

/** A browser that keeps nothing still works until the page is closed. */
export function tabPlace(storage: () => Storage): TokenPlace {
  let held: string | undefined;
  return {
    get: () => {
      try {
        return held ?? storage().getItem(KEY) ?? undefined;
      } catch {
        return held;
      }
    },
    set: (token) => {
      held = token;
      try {
        if (token === undefined) storage().removeItem(KEY);
        else storage().setItem(KEY, token);
      } catch {
        // Private windows may refuse; then it is for this page alone.
      }
    },
  };
}
