/**
 * Every annotation, label and finalizer under a name of ours, with who sets it and what it does: the one list from which
 * `docs/reference/annotations.md` is made, and without an entry in which the compiler lets nobody use a name. Must not:
 * hold names that are somebody else's.
 */
export interface NameUse {
  readonly as: "annotation" | "label" | "finalizer";
  /** What it stands on. */
  readonly on: string;
  /** Who may set it: people, the operator alone, or `keyturn import` for as long as it is at work. */
  readonly by: "people" | "operator" | "import";
  readonly about: string;
}

/** What names of ours begin with, before the slash. */
export const OWN_GROUP = "keyturn.dev";

const ROTATED = "any rotated resource";
const PUBLISHED = "published Secret";
const CHILD = "child of a parent";
const OUTSIDE = "key at Cloud Foundry";
const WORKLOAD = "workload";

const people = (as: NameUse["as"], on: string, about: string): NameUse => ({ as, on, by: "people", about });
const operator = (as: NameUse["as"], on: string, about: string): NameUse => ({ as, on, by: "operator", about });
const importer = (as: NameUse["as"], on: string, about: string): NameUse => ({ as, on, by: "import", about });

export const ownNames = {
  compromised: [
    people(
      "annotation",
      ROTATED,
      "Any value: the active key is replaced, and deleted as soon as its successor is published. Each value asks once. `keyturn rotate --compromised` sets it, and it goes when it is answered.",
    ),
  ],
  freeze: [
    people(
      "annotation",
      ROTATED,
      '`"true"`: what is due, forced or changed waits; a key that is compromised, gone or tampered with does not. `keyturn freeze` sets it.',
    ),
  ],
  revoke: [
    people(
      "annotation",
      ROTATED,
      "`AfterConsumers`: a retired key is deleted only once nobody uses it. `rotation.revoke` says the same, and goes before it.",
    ),
  ],
  "max-hold": [
    people(
      "annotation",
      ROTATED,
      "A duration: for how long such a key is kept at most, past its date of deletion. `rotation.maxHold` says the same, and goes before it.",
    ),
  ],
  keys: [operator("finalizer", ROTATED, "Keys exist outside. It goes once they are gone, or were let go.")],
  "in-use": [operator("finalizer", "ProviderConfig and its Secret", "Resources need them to get rid of their keys.")],
  "credentials-of": [
    operator(
      "label",
      "Secret of a ProviderConfig",
      "By which it is watched; the value names the kind of configuration.",
    ),
  ],
  "owner-uid": [
    operator("label", PUBLISHED, "The UID of the resource that publishes it."),
    operator("label", OUTSIDE, "The UID of the resource that the key belongs to."),
  ],
  "key-id": [operator("annotation", PUBLISHED, "The id of the key that it holds.")],
  sequence: [
    operator("annotation", PUBLISHED, "The number of the key that it holds."),
    operator("label", CHILD, "The number of the key that the child is."),
    operator("label", OUTSIDE, "The number of the key."),
  ],
  "published-at": [operator("annotation", PUBLISHED, "When its data came to be what it is.")],
  fingerprint: [
    operator(
      "annotation",
      PUBLISHED,
      "A keyed digest of its data: data that does not match was changed by somebody, and is put right.",
    ),
  ],
  layout: [operator("annotation", PUBLISHED, "How the credentials are laid out in it.")],
  cluster: [
    operator("label", CHILD, "The id of the cluster whose operator made it."),
    operator("label", OUTSIDE, "The id of the cluster whose operator made it."),
  ],
  owner: [operator("label", OUTSIDE, "A digest of kind, namespace and name of the resource, to find its keys by.")],
  kind: [operator("annotation", OUTSIDE, "The kind of the resource that it belongs to.")],
  namespace: [operator("annotation", OUTSIDE, "The namespace of that resource, where it has one.")],
  name: [operator("annotation", OUTSIDE, "The name of that resource.")],
  parent: [operator("label", CHILD, "A digest of kind, namespace and name of its parent, to find children by.")],
  "parent-uid": [operator("label", CHILD, "The UID of its parent.")],
  "parent-kind": [operator("annotation", CHILD, "The kind of its parent.")],
  "parent-namespace": [operator("annotation", CHILD, "The namespace of its parent, where it has one.")],
  "parent-name": [operator("annotation", CHILD, "The name of its parent.")],
  "child-secret": [
    operator("annotation", "child of a RotatingResource", "The Secret that it publishes, as decided when it was made."),
  ],
  applied: [
    operator("annotation", "object that is made for a resource", "A digest of what was applied; Secrets have none."),
  ],
  "named-conf": [operator("annotation", "pod template of a Bind9Instance", "A digest of the configuration of named.")],
  "key-secrets": [
    operator("annotation", "workload of a Bind9Instance", "The Secrets of its key, as they were when it was applied."),
  ],
  "ring-made-anew": [
    operator(
      "annotation",
      "pod template of a Bind9Instance",
      "The ring that was made anew with nothing of what servers knew, so that they start with it.",
    ),
  ],
  "key-ring": [operator("label", "Secret with a ring of RNDC keys", "By which rings are found and watched.")],
  "ring-seals": [
    operator(
      "annotation",
      "Secret with a ring of RNDC keys",
      "A keyed digest for each key that the operator has put there; others were written by somebody else.",
    ),
  ],
  derived: [
    operator(
      "label",
      "Secret made from others",
      "By which such Secrets are found. It goes from one that an instance names as its own.",
    ),
  ],
  "derived-from": [operator("annotation", "Secret made from others", "What it was made from, with the keys of it.")],
  "services-of": [operator("annotation", "Secret with `VCAP_SERVICES`", "The name of the application.")],
  restartOnChange: [
    people(
      "annotation",
      "workload or its pod template",
      '`"true"`: it is restarted when a source that it uses has changed. `--restart-prefix` adds other prefixes.',
    ),
  ],
  "restart-quiet-period": [
    people("annotation", WORKLOAD, "A duration: a change is rolled out when nothing else has changed for so long."),
  ],
  "restart-max-wait": [
    people("annotation", WORKLOAD, "A duration: or so long after it was first seen, however long the quiet period is."),
  ],
  "restart-min-interval": [people("annotation", WORKLOAD, "A duration: no sooner than this after the restart before.")],
  "restart-max-per-hour": [people("annotation", WORKLOAD, "A number: more are a fight, and are stopped; 0: never.")],
  "restart-window": [
    people("annotation", WORKLOAD, "`CRON; DURATION[; ZONE]`, several joined by ` | `: restarts begin only then."),
  ],
  "restart-max-rollouts": [people("annotation", "Namespace", "How many rollouts may be under way in it at a time.")],
  "restart-stopped": [
    operator(
      "annotation",
      WORKLOAD,
      "Restarts are stopped, and why. People may set it to stop them, and take it away to let them go on.",
    ),
  ],
  "restart-state": [operator("annotation", WORKLOAD, "What is known of its sources and of restarts under way.")],
  "restart-for": [
    operator("annotation", WORKLOAD, "Secrets that it must not run without: it is restarted for these alone."),
  ],
  "restart-again-for": [operator("annotation", WORKLOAD, "`NAME=INSTANT` beside it: no pod may be older than that.")],
  digests: [operator("annotation", "pod template of a restarted workload", "Keyed digests of what its pods run on.")],
  restartedAt: [
    operator("annotation", "pod template of a restarted workload", "When what was rolled out last was published."),
  ],
  importing: [importer("annotation", ROTATED, "It is half taken over, and paused until all is in place.")],
  "import-note": [
    importer("annotation", "Deployment of Bindy", "What its instance is to be, while that is being made anew."),
  ],
  "imported-from": [
    importer(
      "annotation",
      "ServiceBinding",
      "The UID of the object of SAP's operator that it was made from, for good.",
    ),
  ],
} as const satisfies Readonly<Record<string, readonly NameUse[]>>;

export type OwnName = keyof typeof ownNames;

export const ownName = <N extends OwnName>(name: N): `${typeof OWN_GROUP}/${N}` => `${OWN_GROUP}/${name}`;

/** Names under a word of their own before the group. */
export const wordedNames = {
  rndckey: {
    "force-rotation": people(
      "annotation",
      "RndcKey",
      "Any value: the active key is replaced now. Each value asks once.",
    ),
  },
  rotatingresource: {
    "force-rotation": people(
      "annotation",
      "RotatingResource",
      "Any value: the active child is replaced now. Each value asks once.",
    ),
  },
  embedded: {
    ready: people(
      "annotation",
      "Pod, on the embedded API alone",
      '`"false"`: it does not get ready, as if its container failed its probe.',
    ),
    dns: operator("annotation", "Pod of a Bind9Instance in `keyturn up`", "Where its named answers DNS."),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, NameUse>>>>;

type Worded = typeof wordedNames;

export const wordedName = <W extends keyof Worded, N extends keyof Worded[W] & string>(
  word: W,
  name: N,
): `${W}.${typeof OWN_GROUP}/${N}` => `${word}.${OWN_GROUP}/${name}`;
