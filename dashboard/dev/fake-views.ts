import {
  type Action,
  type ActionOffer,
  type ConsumersView,
  type ConsumerView,
  type CredentialView,
  type EvidenceView,
  type Interval,
  MAX_TROUBLES,
  MAX_UPCOMING,
  type Overview,
  type Preview,
  TROUBLE_GROUPS,
  type TroubleLine,
  type Upcoming,
  type WindowBar,
  type WorkloadsView,
} from "../../src/dashboard/wire.ts";
import { nights } from "./fake-times.ts";
import { DAY_MS, type FakeCredential, type FakeWorld, foreseen, HOUR_MS } from "./fake-world.ts";

/** As long as those of Secrets are. */
const FINGERPRINT = "4f1c20d7.mD2kTz0vJ8yq1sW5uXcB7nRfLhPgE3oA9iYtK6eVjMw";

/** What a server would make of the made-up world: the views of wire.ts. Pure. */
export function overviewOf(world: FakeWorld, now: number): Overview {
  const kinds = new Map<string, { kind: string; count: number; troubled: number }>();
  const keys = { active: 0, pending: 0, retired: 0, held: 0 };
  const troubles: TroubleLine[] = [];
  const events: { id: string; at: number; what: "rotation" | "deletion" }[] = [];
  let [frozen, paused] = [0, 0];
  for (const { row } of world.credentials.values()) {
    const kind = kinds.get(row.kind) ?? { kind: row.kind, count: 0, troubled: 0 };
    kinds.set(row.kind, { ...kind, count: kind.count + 1, troubled: kind.troubled + (row.troubles ? 1 : 0) });
    for (const key of row.keys) {
      if (key.state === "active" || key.state === "pending" || key.state === "retired") keys[key.state]++;
      if (key.heldFor !== undefined) keys.held++;
      if (key.state === "retired" && key.deletedAt !== undefined)
        events.push({ id: row.id, at: key.deletedAt, what: "deletion" });
    }
    troubles.push(...(row.troubles ?? []).map((trouble) => ({ ...trouble, id: row.id })));
    if (row.rotationAt !== undefined) events.push({ id: row.id, at: row.rotationAt, what: "rotation" });
    if (row.isFrozen) frozen++;
    if (row.isPaused) paused++;
  }
  const rank = ({ group }: TroubleLine): number => TROUBLE_GROUPS.indexOf(group);
  events.sort((a, b) => a.at - b.at);
  return {
    at: now,
    kinds: [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    keys,
    frozen,
    paused,
    troubles: troubles.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_TROUBLES),
    troubleCounts: Object.fromEntries(
      TROUBLE_GROUPS.map((group) => [group, troubles.filter((trouble) => trouble.group === group).length]).filter(
        ([, count]) => count !== 0,
      ),
    ),
    upcoming: [
      upcoming("hour", events, now, now + HOUR_MS),
      upcoming("day", events, now + HOUR_MS, now + DAY_MS),
      upcoming("month", events, now + DAY_MS, now + 30 * DAY_MS),
    ],
    operator: {
      seenFrom: "operator",
      ...(world.silentSince !== undefined && { silentSince: world.silentSince }),
      version: "0.2.0",
      leader: { identity: "keyturn-7c9d5b8f6-x2x4q", renewedAt: now - 1300, isThis: true },
      watches: [...kinds.keys(), "Secret", "Deployment"].map((kind) => ({ kind, isReady: true, words: "up to date" })),
      queues: [
        { controller: "service-bindings", waiting: 2, working: 1 },
        { controller: "restarts", waiting: 0, working: 0 },
      ],
      lastDriftCheckAt: now - 4 * 60_000,
      clockSkewMs: 120,
    },
  };
}

function upcoming(
  span: Upcoming["span"],
  events: readonly { id: string; at: number; what: "rotation" | "deletion" }[],
  from: number,
  until: number,
): Upcoming {
  const within = events.filter(({ at }) => at >= from && at < until);
  return {
    span,
    rotations: within.filter(({ what }) => what === "rotation").length,
    deletions: within.filter(({ what }) => what === "deletion").length,
    next: within.slice(0, MAX_UPCOMING),
  };
}

export function credentialOf(world: FakeWorld, credential: FakeCredential, now: number): CredentialView {
  const { row, uid, sequence, history } = credential;
  const active = row.keys.find(({ state }) => state === "active");
  const pending = row.keys.find(({ state }) => state === "pending");
  const [namespace = "", name = ""] = (row.secret ?? "").split("/");
  return {
    at: now,
    row,
    seen: { uid, sequence },
    facts: [
      ...(row.troubles ?? []).map(({ reason, message }) => ({
        about: "Problem",
        text: `${reason}: ${message}`,
        isProblem: true as const,
      })),
      {
        about: "Now",
        text: pending
          ? `Goes on with key ${pending.name}: it is made or found, is published and becomes active.`
          : "Nothing to do.",
      },
      {
        about: "Next rotation",
        text:
          row.rotationAt === undefined
            ? "None: it has no rotation policy, the key stays until somebody asks."
            : `At ${new Date(Math.min(row.rotationAt, 8.64e15)).toISOString()}: the active key is old enough by then (rotation.frequency).`,
      },
      ...(active
        ? [{ about: "Active key", text: `${active.name} (${active.id}), in the Secret ${row.secret ?? "?"}.` }]
        : []),
    ],
    steps: pending
      ? [
          { step: "intend", state: "done", words: "the key to come is written down" },
          { step: "create", state: "now", words: "the key is being made" },
          { step: "publish", state: "to come", words: "the Secret is written" },
          { step: "activate", state: "to come", words: "the new key is the active one" },
          { step: "commit", state: "to come", words: "the old key is retired" },
        ]
      : [],
    keys: manyKeys(world, credential, now),
    ...(row.moreKeys ? { moreKeys: row.moreKeys - 480 } : {}),
    ...(row.secret
      ? {
          secret: {
            namespace,
            name,
            isThere: true,
            keyId: active?.id ?? "",
            fingerprint: FINGERPRINT,
            publishedAt: active?.createdAt ?? now,
          },
        }
      : {}),
    consumers: row.secret ? consumersOf(namespace, row.name) : [],
    consumersUnseen: namespace === "platform" ? ["CronJobs of platform: you may not list them"] : [],
    children:
      row.kind === "RotatingResource" && active
        ? [{ kind: "Certificate", name: active.name, state: "active", words: "it is ready" }]
        : [],
    history: history.slice(0, 20).map((line) => ({ ...line, from: "status" as const, outcome: "done" })),
    windows: windowsOf(credential, { from: now - 30 * DAY_MS, until: now + 30 * DAY_MS }),
    actions: offersOf(row),
  };
}

function manyKeys(world: FakeWorld, { row }: FakeCredential, now: number): CredentialView["keys"] {
  if (!row.moreKeys) return row.keys;
  const more = Array.from({ length: 480 }, (_, index) => ({
    id: `more-${index}`,
    name: `many-${index}`,
    state: "retired" as const,
    createdAt: now - (index + 22) * HOUR_MS,
    replacedAt: now - (index + 21) * HOUR_MS,
    deletedAt: now + 30 * DAY_MS + world.credentials.size,
  }));
  return [...row.keys, ...more];
}

function offersOf(row: FakeCredential["row"]): readonly ActionOffer[] {
  const busy = row.phase === "Rotating" ? { obstacle: "a rotation is under way" } : {};
  const frozen = row.isFrozen ? { obstacle: "it is frozen: unfreeze it first" } : busy;
  const paused = row.isPaused
    ? { obstacle: "it is paused: remove the annotation crossplane.io/paused first" }
    : undefined;
  return [
    { action: "rotate", ...(paused ?? frozen) },
    { action: "compromised", ...(paused ?? busy) },
    row.isFrozen ? { action: "unfreeze" } : { action: "freeze" },
  ];
}

const windowsOf = ({ windows }: FakeCredential, sight: Interval): readonly WindowBar[] =>
  windows === "none" ? [] : nights(sight);

export function previewOf(credential: FakeCredential, action: Action, now: number, until: number): Preview {
  const { row } = credential;
  const next: Preview["keys"] = foreseen(row, now, until, action === "freeze" ? undefined : now);
  const compromised = next.map((key) => (key.state === "active" ? { ...key, replacedAt: now, deletedAt: now } : key));
  return {
    action,
    statement: {
      rotate: [
        "A new key is made and published now.",
        "The active key is retired, and deleted when its overlap is over.",
        "Consumers that have opted in are restarted once.",
      ],
      compromised: [
        "A new key is made and published now.",
        "The active key is deleted as soon as its successor is published: there is no overlap.",
        "Consumers that still hold it stop working until they are restarted.",
      ],
      freeze: [
        "No new rotation begins until it is unfrozen.",
        "What is under way is finished, and retired keys are deleted when their time comes.",
      ],
      unfreeze: ["Rotation goes on by its policy."],
    }[action],
    keys: action === "compromised" ? compromised : next,
    windows: windowsOf(credential, { from: 2 * now - until, until }),
  };
}

function consumersOf(namespace: string, name: string): readonly ConsumerView[] {
  const of = (kind: string, suffix: string, more: Partial<ConsumerView>): ConsumerView => ({
    kind,
    namespace,
    name: `${name}${suffix}`.slice(0, 60),
    uses: "volume",
    runsOn: "on the current value, 2 pods",
    change: "restarts it",
    hasOptedIn: true,
    standing: "moved",
    rollout: { updated: 2, total: 2, isComplete: true, words: "complete" },
    ...more,
  });
  return [
    of("Deployment", "-web", {}),
    of("StatefulSet", "-worker", {
      uses: "env (password)",
      runsOn: "on an older value, 1 of 3 pods",
      standing: "moving",
      rollout: { updated: 2, total: 3, isComplete: false, words: "2 of 3 pods updated" },
    }),
    of("Deployment", "-batch", {
      runsOn: "on an older value, 2 pods",
      standing: "behind",
      hasOptedIn: false,
      change: "nothing, not opted in",
    }),
  ];
}

export function consumersViewOf(world: FakeWorld, namespace: string, name: string, now: number): ConsumersView {
  const secret = `${namespace}/${name}`;
  const credential = [...world.credentials.values()].find(({ row }) => row.secret === secret);
  const active = credential?.row.keys.find(({ state }) => state === "active");
  return {
    at: now,
    secret: {
      namespace,
      name,
      isThere: credential !== undefined,
      ...(active ? { keyId: active.id, publishedAt: active.createdAt, fingerprint: FINGERPRINT } : {}),
    },
    ...(credential ? { credential: credential.row.id } : {}),
    consumers: credential ? consumersOf(namespace, name) : [],
    unseen: [],
    notes: credential ? [] : [`Secret ${secret} is not there; nobody refers to it.`],
  };
}

export function workloadsOf(world: FakeWorld, namespace: string): WorkloadsView {
  const rows = [...world.credentials.values()]
    .map(({ row }) => row)
    .filter(({ secret }) => secret?.startsWith(`${namespace}/`));
  return {
    namespace,
    workloads: rows.slice(0, 200).map((row) => ({
      kind: "Deployment",
      name: `${row.name}-web`,
      secrets: [{ secret: row.secret ?? "", credential: row.id }],
    })),
    unseen: [],
  };
}

export function evidenceOf(world: FakeWorld, maxPeriodMs: number | undefined, now: number): EvidenceView {
  return {
    at: now,
    ...(maxPeriodMs === undefined ? {} : { maxPeriodMs }),
    items: [...world.credentials.values()].map(({ row }) => {
      const active = row.keys.find(({ state }) => state === "active");
      const overdueMs = row.rotationAt !== undefined && row.rotationAt < now - 120_000 ? now - row.rotationAt : 0;
      const isTooLong = maxPeriodMs !== undefined && row.frequencyMs !== undefined && row.frequencyMs > maxPeriodMs;
      const exceptions = [
        ...(row.isFrozen ? [{ kind: "Frozen", words: "no new rotation begins" }] : []),
        ...(row.frequencyMs === undefined ? [{ kind: "Static", words: "it has no rotation policy" }] : []),
        ...(isTooLong ? [{ kind: "PeriodTooLong", words: "its period is longer than allowed" }] : []),
      ];
      const problems = (row.troubles ?? [])
        .filter(({ group }) => group !== "held")
        .map(({ reason, message }) => ({ reason, words: message }));
      return {
        kind: row.kind,
        name: row.id.split("/").slice(1).join("/"),
        label: `${row.kind.toLowerCase()}/${row.namespace ? `${row.namespace}/` : ""}${row.name}`,
        id: row.id,
        ...(row.secret ? { secret: row.secret } : {}),
        ...(row.frequencyMs === undefined ? {} : { periodMs: row.frequencyMs }),
        ...(active ? { lastRotationAt: active.createdAt } : {}),
        ...(row.rotationAt === undefined ? {} : { nextRotationAt: row.rotationAt }),
        overdueMs,
        exceptions,
        problems,
        isInOrder: overdueMs === 0 && exceptions.length === 0 && problems.length === 0,
      };
    }),
    heldKeys: [...world.credentials.values()].filter(({ row }) => row.troubles?.some(({ group }) => group === "held"))
      .length,
    unseen: [],
    audit: {
      kind: "verified",
      isSound: true,
      lines: 16_204,
      from: now - 90 * DAY_MS,
      until: now,
      words: ["Sound: 16204 lines of 2 processes, all as they were written."],
    },
  };
}
