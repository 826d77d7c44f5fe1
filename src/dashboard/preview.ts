import type { KnownKey } from "../engine/model.ts";
import { endByParent, hintAtParent } from "../insight/explain/parent-words.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { delayOf } from "../insight/rotate/request-rotation.ts";
import { moment } from "../insight/words/when.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { askingFor, obstacleOf } from "./action-rules.ts";
import { keyInParent, withinParent } from "./child-keys.ts";
import { type FutureSpan, futureOf } from "./future.ts";
import { windowsOf } from "./window-bars.ts";
import type { Action, KeyBar, Preview } from "./wire.ts";

export interface PreviewOptions extends FutureSpan {
  /** Where it is a child, and whoever asks may see whose. */
  readonly parent?: ManagedResource | undefined;
}

/** What an action would do: the engine is asked what it makes of a resource that bears the annotation. Pure. */
export function previewOf(resource: ManagedResource, action: Action, options: PreviewOptions): Preview {
  const { parent, ...span } = options;
  const windows = windowsOf(resource, { from: 2 * span.now - span.until, until: span.until }) ?? [];
  const own = parent && keyInParent(resource, parent, span.now);
  const obstacle = obstacleOf(resource, action, span.now);
  if (obstacle !== undefined) {
    const statement = [`Nothing would happen: ${obstacle}.`];
    return { action, statement, keys: withinParent(futureOf(resource, span).keys, own), windows };
  }
  const asked = withAsking(resource, action);
  const keys = withinParent(futureOf(asked, span).keys, own);
  return { action, statement: statementFor(action, { resource, asked, keys, parent, now: span.now }), keys, windows };
}

function withAsking(resource: ManagedResource, action: Action): ManagedResource {
  const { kind, object } = resource;
  const annotations = Object.entries({ ...object.metadata.annotations, ...askingFor(resource, action) });
  const kept = annotations.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return managedResource(kind, { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } });
}

interface Told {
  readonly resource: ManagedResource;
  readonly asked: ManagedResource;
  readonly keys: readonly KeyBar[];
  readonly parent: ManagedResource | undefined;
  readonly now: number;
}

function statementFor(action: Action, told: Told): readonly string[] {
  const { resource, asked, now } = told;
  if (action === "freeze") {
    return [
      "No new rotation begins until it is unfrozen; a key that is compromised or gone is replaced all the same.",
      "What is under way is finished, and retired keys are deleted when their time comes.",
    ];
  }
  if (action === "unfreeze") return ["Rotations begin again.", ...nextWords(told)];
  const delay = delayOf(asked, now);
  const where = secretWords(asked);
  const hint = hintAtParent(resource);
  return [
    ...(hint === undefined ? [] : [`${hint}.`]),
    delay === undefined
      ? `A new key is made now${where}.`
      : `A new key is asked for, and not made at once: ${delay}. Then it is made${where}.`,
    ...oldKeyWords(action, told),
    "Workloads that have opted in to restarts and use that Secret are restarted once.",
    ...nextWords(told),
  ];
}

function secretWords({ spec }: ManagedResource): string {
  const secret = spec instanceof SpecProblem ? undefined : spec.secret;
  return secret
    ? `, published in the Secret ${secret.namespace}/${secret.name}, and becomes the active one`
    : ", and becomes the active one";
}

function oldKeyWords(action: Action, { resource, keys, now }: Told): readonly string[] {
  const { active, retired } = resource.state;
  if (!active) return [];
  const bar = keys.find(({ id }) => id === active.id);
  if (action === "compromised") {
    return [
      `The key ${active.name} is deleted as soon as that is published: whoever still uses it is locked out.`,
      ...earlierWords(retired, keys, now),
    ];
  }
  const until =
    bar?.deletedAt === undefined
      ? `The key ${active.name} is retired.`
      : `The key ${active.name} goes on working, and is deleted at ${moment(bar.deletedAt, now)}.`;
  return [until, ...earlierWords(retired, keys, now)];
}

/** Of those that were retired before: nobody has said anything against them. */
function earlierWords(retired: readonly KnownKey[], keys: readonly KeyBar[], now: number): readonly string[] {
  const [first, ...others] = retired;
  if (!first) return [];
  if (others.length > 0)
    return [`The ${retired.length} keys that were retired before stay until their own time comes.`];
  const deletedAt = keys.find(({ id }) => id === first.id)?.deletedAt;
  const until = deletedAt === undefined ? "its own time comes" : moment(deletedAt, now);
  return [`The key ${first.name}, which was retired before, stays until ${until}.`];
}

/** After what is made now. */
function nextWords({ resource, keys, parent, now }: Told): readonly string[] {
  const next = keys.findLast(({ state, createdAt }) => state === "foreseen" && createdAt > now + 1000);
  const end = endByParent(resource, parent, now);
  if (end !== undefined) return [`The child goes all the same: ${end}.`];
  return next ? [`The next rotation is at ${moment(next.createdAt, now)}.`] : [];
}
