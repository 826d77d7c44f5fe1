import { reasonMark } from "../../src/dashboard/key-bars.ts";
import { lateMarkFor } from "../../src/dashboard/late-mark.ts";
import type {
  Action,
  CredentialId,
  Future,
  FuturesRequest,
  KeyBar,
  KeyMark,
  Row,
  Trouble,
} from "../../src/dashboard/wire.ts";
import { whyIntended } from "../../src/insight/explain/history-facts.ts";
import { goneKeys, nights } from "./fake-times.ts";

/**
 * A made-up cluster for the page alone, from a seed: credentials with keys that rotate as time goes, troubles, windows,
 * names that try to be markup, dates from the year 1 to 9999. Time is given, never read. It is no engine: its rules are just
 * good enough to look at; its words are those of the real server. Must not: serve anything.
 */
export interface FakeWorldOptions {
  readonly now: number;
  readonly count: number;
  readonly seed?: number;
  /** Also what is made to break pages. */
  readonly isNasty?: boolean;
  /** So many of them rotate within seconds. */
  readonly lively?: number;
}

export interface FakeCredential {
  row: Row;
  readonly uid: string;
  sequence: number;
  readonly windows: "none" | "nights";
  /** What was asked for, and when it goes on. */
  wish?: { readonly kind: keyof typeof REASONS; readonly at: number };
  history: { readonly at: number; readonly what: string; readonly keyId: string; readonly reason: string }[];
}

const REASONS = { forced: "Forced", compromised: "Compromised", schedule: "RotationDue" } as const;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const KINDS = ["ServiceBinding", "ServiceBinding", "ServiceCredentialBinding", "RotatingResource", "RndcKey"] as const;
const NAMESPACES = ["shop", "billing", "search", "platform", "dns", "reports"] as const;
const WORDS = [
  "orders",
  "invoices",
  "ledger",
  "catalog",
  "payments",
  "search",
  "mail",
  "audit",
  "stock",
  "web",
] as const;
const ENDS = ["db", "queue", "cache", "index", "api", "bucket"] as const;
const FREQUENCIES = [6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 12 * DAY_MS, 30 * DAY_MS, 90 * DAY_MS] as const;
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";
/** What a rotation takes here. */
const MAKING_MS = 2500;

const TROUBLES: readonly Omit<Trouble, "since">[] = [
  { group: "overdue", reason: "NotRotated", message: "a rotation is due since 3h: is the operator running?" },
  { group: "failing", reason: "ProviderUnavailable", message: "the Service Manager cannot serve now" },
  { group: "failing", reason: "Unauthorized", message: "the log-in of ProviderConfig default was refused" },
  { group: "held", reason: "ConsumersBehind", message: "Deployment shop/still (it is paused) has not moved" },
  { group: "ineffective", reason: "SameCredentials", message: "the last rotation brought the same credentials again" },
  { group: "skewed", reason: "ClockSkewed", message: "the clocks of the operator and of the API server differ by 42s" },
];

export class FakeWorld {
  readonly credentials = new Map<CredentialId, FakeCredential>();
  /** When its cluster was last heard of, where it is silent. */
  silentSince: number | undefined;
  readonly #changed = new Set<CredentialId>();
  #state: number;

  constructor({ now, count, seed = 1, isNasty = false, lively = 3 }: FakeWorldOptions) {
    this.#state = seed;
    for (let index = 0; index < count; index++) this.#add(index, now, index < lively);
    if (isNasty) this.#addNasty(now);
  }

  /** Mulberry32: the same numbers for the same seed. */
  chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.chance() * choices.length)] as T;
  }

  #suffix(): string {
    return Array.from({ length: 8 }, () => this.#pick([...LETTERS])).join("");
  }

  #key(name: string, state: KeyBar["state"], createdAt: number, more: Partial<KeyBar> = {}): KeyBar {
    const suffix = this.#suffix();
    return { id: `id-${suffix}`, name: `${name}-${suffix}`, state, createdAt, ...more };
  }

  #add(index: number, now: number, isLively: boolean): void {
    const kind = isLively ? "ServiceBinding" : this.#pick(KINDS);
    const base = `${this.#pick(WORDS)}-${this.#pick(ENDS)}`;
    const name = isLively
      ? `lively-${index + 1}`
      : index < 60
        ? `${base}-${index}`
        : `${base}-${String(index).padStart(5, "0")}`;
    const namespace = this.#pick(NAMESPACES);
    const isNamespaced = kind === "RotatingResource" || kind === "RndcKey";
    const isStatic = !isLively && this.chance() < 0.03;
    const frequencyMs = isLively ? (20 + index * 15) * SECOND_MS : this.#pick(FREQUENCIES);
    const ttlMs = isLively ? frequencyMs + 15 * SECOND_MS : Math.round(frequencyMs * 1.2);
    const ageMs = Math.floor(this.chance() * frequencyMs * 0.98);
    const id = [kind, ...(isNamespaced ? [namespace] : []), name].join("/");
    const trouble = !isLively && (index === 7 || this.chance() < 0.012) ? this.#pick(TROUBLES) : undefined;
    const isFrozen = !isLively && !trouble && this.chance() < 0.01;
    const isPaused = !isLively && !trouble && !isFrozen && this.chance() < 0.005;
    const rotationAt = now - ageMs + frequencyMs;
    const row: Row = {
      id,
      kind,
      ...(isNamespaced ? { namespace } : {}),
      name,
      phase: "Ready",
      secret: `${namespace}/${name}`,
      keys: isStatic
        ? [this.#key(name, "active", now - ageMs)]
        : this.#keys(name, now - ageMs, frequencyMs, ttlMs, now),
      ...(isStatic ? {} : { frequencyMs, ttlMs }),
      ...(isStatic || isFrozen || isPaused
        ? {}
        : { rotationAt: trouble?.group === "overdue" ? now - 3 * HOUR_MS : rotationAt }),
      ...(isFrozen ? { isFrozen: true as const } : {}),
      ...(isPaused ? { isPaused: true as const } : {}),
      ...(trouble ? { troubles: [{ ...trouble, since: now - Math.floor(this.chance() * 2 * DAY_MS) }] } : {}),
      ...(this.chance() < 0.02
        ? { warnings: ["the ttl is much longer than the frequency: many keys live at a time"] }
        : {}),
    };
    this.#put(
      trouble?.group === "held" ? held(row, now) : row,
      isLively || this.chance() > 0.25 ? "none" : "nights",
      now,
    );
  }

  /** An active one, and those before it: three in all. */
  #keys(name: string, activeAt: number, frequencyMs: number, ttlMs: number, now: number): readonly KeyBar[] {
    const active = this.#key(name, "active", activeAt, { mark: this.#mark() } as Partial<KeyBar>);
    const before = [1, 2].map((back) => {
      const createdAt = activeAt - back * frequencyMs;
      const deletedAt = createdAt + ttlMs;
      const dates = { replacedAt: createdAt + frequencyMs, deletedAt };
      return this.#key(name, deletedAt > now ? "retired" : "deleted", createdAt, { ...dates, ...this.#marked() });
    });
    return [active.mark ? active : withoutMark(active), ...before];
  }

  #marked(): { mark?: KeyMark } {
    const mark = this.#mark();
    return mark ? { mark } : {};
  }

  #mark(): KeyMark | undefined {
    const chance = this.chance();
    if (chance < 0.06) return reasonMark("Forced");
    if (chance < 0.09) return lateMarkFor(2 * HOUR_MS);
    if (chance < 0.1) return reasonMark("Compromised");
    if (chance < 0.11) return reasonMark("ActiveKeyGone");
    return undefined;
  }

  #put(row: Row, windows: FakeCredential["windows"], now: number): void {
    const history = row.keys
      .filter(({ state }) => state !== "pending")
      .map((key) => ({
        at: key.createdAt,
        what: `${key.name} became the active key; ${whyIntended("RotationDue")}`,
        keyId: key.id,
        reason: "RotationDue",
      }));
    this.credentials.set(row.id, { row, uid: `uid-${row.id}`, sequence: Math.floor(now / 1000), windows, history });
    this.#changed.add(row.id);
  }

  #addNasty(now: number): void {
    const markup = '<img src=x onerror="document.title=1">';
    const rtl = "\u202egnp.exe";
    const base = { kind: "RotatingResource", namespace: "nasty", phase: "Ready", keys: [] } as const;
    const named = (name: string, more: Partial<Row> = {}): Row => ({
      ...base,
      id: `RotatingResource/nasty/${name}`,
      name,
      ...more,
    });
    const rows: readonly Row[] = [
      named(markup, {
        secret: "nasty/<script>alert(1)</script>",
        keys: [this.#key(markup, "active", now - DAY_MS, { mark: { kind: "forced", words: "</script><b>x" } })],
        troubles: [{ reason: "<b>Bold</b>", message: `${markup} {{7*7}} \${7*7}`, group: "failing" }],
      }),
      named(rtl, { keys: [this.#key(rtl, "active", now)] }),
      named("no-status"),
      named("a".repeat(253), { secret: `nasty/${"s".repeat(253)}`, keys: [this.#key("a".repeat(253), "active", now)] }),
      named("year-1", {
        keys: [this.#key("y1", "active", Date.parse("0001-01-01T00:00:00Z"))],
        rotationAt: Date.parse("0001-04-01T00:00:00Z"),
        frequencyMs: DAY_MS,
        troubles: [
          {
            reason: "NotRotated",
            message: "a rotation is due since 2025y",
            group: "overdue",
            since: Date.parse("0001-04-01T00:00:00Z"),
          },
        ],
      }),
      named("year-9999", {
        keys: [
          this.#key("y9", "active", now - DAY_MS, {
            replacedAt: Date.UTC(9999, 0, 1),
            deletedAt: Date.UTC(9999, 11, 31, 23, 59, 59),
          }),
        ],
        rotationAt: Date.UTC(9999, 0, 1),
        frequencyMs: 100 * 365 * DAY_MS,
      }),
      named("many-retired", {
        keys: [
          this.#key("many", "active", now - HOUR_MS),
          ...Array.from({ length: 20 }, (_, index) =>
            this.#key("many", "retired", now - (index + 2) * HOUR_MS, {
              replacedAt: now - (index + 1) * HOUR_MS,
              deletedAt: now + 30 * DAY_MS,
            }),
          ),
        ],
        moreKeys: 9980,
        frequencyMs: HOUR_MS,
        ttlMs: 400 * DAY_MS,
        rotationAt: now + MINUTE_MS * 40,
      }),
    ];
    for (const row of rows) this.#put(row, "none", now);
    // As an older server, or a broken one, might send it: without what the types promise.
    const bare = {
      id: "RotatingResource/nasty/bare",
      kind: "RotatingResource",
      name: "bare",
      keys: [],
      // On purpose less than a row has: an old server, or a resource without a status.
    } as unknown as Row;
    this.#put(bare, "none", now);
  }

  /** Lets time go on: what is due is made, what is made becomes active, what is over is deleted. */
  advance(now: number): void {
    for (const credential of this.credentials.values()) {
      const { row, wish } = credential;
      if (wish && wish.at <= now) this.#finish(credential, now);
      else if (
        !wish &&
        row.rotationAt !== undefined &&
        row.rotationAt <= now &&
        (row.frequencyMs ?? DAY_MS) < HOUR_MS
      ) {
        this.#begin(credential, "schedule", now);
      }
      const over = credential.row.keys.some(
        ({ state, deletedAt }) => state === "retired" && deletedAt !== undefined && deletedAt <= now,
      );
      if (over) {
        const keys = credential.row.keys.map((key) =>
          key.state === "retired" && key.deletedAt !== undefined && key.deletedAt <= now
            ? { ...key, state: "deleted" as const }
            : key,
        );
        this.change(credential, { ...credential.row, keys: keys.slice(0, 6) });
      }
    }
  }

  #begin(credential: FakeCredential, kind: keyof typeof REASONS, now: number): void {
    const { row } = credential;
    credential.wish = { kind, at: now + MAKING_MS };
    const { rotationAt: _, ...rest } = row;
    const pending = this.#key(row.name, "pending", now);
    this.change(credential, { ...rest, phase: "Rotating", keys: [pending, ...row.keys] });
  }

  #finish(credential: FakeCredential, now: number): void {
    const { row, wish } = credential;
    delete credential.wish;
    const [pending, ...others] = row.keys;
    if (!pending || !wish) return;
    const overlapMs = wish.kind === "compromised" ? 0 : (row.ttlMs ?? DAY_MS) - (row.frequencyMs ?? 0);
    const reason = REASONS[wish.kind];
    const mark = reasonMark(reason);
    const keys = [
      { ...pending, state: "active" as const, ...(mark ? { mark } : {}) },
      ...others.map((key) =>
        key.state === "active"
          ? { ...key, state: "retired" as const, replacedAt: now, deletedAt: now + Math.max(overlapMs, 1000) }
          : key,
      ),
    ];
    credential.history.unshift({
      at: now,
      what: `${pending.name} became the active key; ${whyIntended(reason)}`,
      keyId: pending.id,
      reason,
    });
    const rotationAt = row.frequencyMs === undefined || row.isFrozen ? undefined : now + row.frequencyMs;
    this.change(credential, { ...row, phase: "Ready", keys, ...(rotationAt === undefined ? {} : { rotationAt }) });
  }

  /** As the server would: only for the state that was seen. Says what happens, or undefined where it is another one by now. */
  act(credential: FakeCredential, action: Action, sequence: number, now: number): string | undefined {
    if (credential.sequence !== sequence || credential.wish) return undefined;
    const { row } = credential;
    if (action === "rotate" || action === "compromised") {
      this.#begin(credential, action === "rotate" ? "forced" : "compromised", now);
      return "A rotation was asked for.";
    }
    const { isFrozen: _, rotationAt: __, ...rest } = row;
    if (action === "freeze") this.change(credential, { ...rest, isFrozen: true });
    else
      this.change(credential, {
        ...rest,
        ...(row.frequencyMs === undefined ? {} : { rotationAt: now + row.frequencyMs }),
      });
    return action === "freeze" ? "Frozen." : "Unfrozen.";
  }

  change(credential: FakeCredential, row: Row): void {
    credential.row = row;
    credential.sequence++;
    this.#changed.add(row.id);
  }

  remove(id: CredentialId): void {
    this.credentials.delete(id);
    this.#changed.add(id);
  }

  takeChanged(): readonly CredentialId[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  future({ row, windows }: FakeCredential, now: number, { until, sight }: Omit<FuturesRequest, "ids">): Future {
    const keys = foreseen(row, now, until);
    const last = keys.at(-1);
    const isCut = keys.length >= 400 && last?.replacedAt !== undefined && last.replacedAt < until;
    return {
      keys: [...keys, ...goneKeys(row, now)],
      ...(windows === "none" ? {} : { windows: nights(sight) }),
      ...(isCut && last.replacedAt !== undefined ? { until: last.replacedAt } : {}),
    };
  }
}

const withoutMark = ({ mark: _, ...key }: KeyBar): KeyBar => key;

const held = (row: Row, now: number): Row => ({
  ...row,
  keys: row.keys.map((key, index) =>
    index === 1
      ? {
          ...key,
          state: "retired",
          deletedAt: now + 2 * DAY_MS,
          heldFor: "Deployment shop/still (it is paused) has not moved",
        }
      : key,
  ),
});

/** The keys that are there with how they end, and those to come. */
export function foreseen(row: Row, now: number, until: number, firstAt = row.rotationAt): readonly KeyBar[] {
  const { frequencyMs, ttlMs = frequencyMs } = row;
  if (frequencyMs === undefined || ttlMs === undefined || firstAt === undefined) return row.keys;
  const first = Math.max(firstAt, now);
  const keys: KeyBar[] = row.keys.map((key) =>
    key.state === "active" ? { ...key, replacedAt: first, deletedAt: Math.max(first, key.createdAt + ttlMs) } : key,
  );
  for (let at = first, count = 0; at < until && count < 400; at += frequencyMs, count++) {
    keys.push({
      id: `foreseen-${row.id}-${count}`,
      name: `#${count + 1} to come`,
      state: "foreseen",
      createdAt: at,
      replacedAt: at + frequencyMs,
      deletedAt: at + ttlMs,
    });
  }
  return keys;
}
