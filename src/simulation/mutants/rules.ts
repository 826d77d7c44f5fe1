/** One rule, and the names under which docs/protocol.md has it. */
interface RuleText {
  readonly protocol: readonly string[];
  readonly text: string;
}

const rule = (protocol: string, text: string): RuleText => ({
  protocol: protocol.split(" ").filter((name) => name !== ""),
  text,
});

/** What every mutant breaks one of. A test sees to it that each has its mutant, and that no rule of the protocol is left out. */
export const RULES = {
  finalizer: rule("P6", "Nothing is made outside before the resource has a finalizer."),
  intentCas: rule("P5 P7", "The intent is written by compare-and-swap: a stale read fails there."),
  lookFirst: rule("P8", "Unless this very pass wrote the intent, look by name and by mark before making a key."),
  adoptOwn: rule("P8", "A key of the pending intent that is found is taken, not made again."),
  foreignName: rule("P8", "A key of somebody else under the pending name is left alone: next sequence."),
  adoptSound: rule("P8", "Only a key that was created successfully and is not being deleted is taken."),
  askById: rule("P9", "Lists lag: what is known by id is asked for by id before it counts as absent."),
  publishLive: rule("P10", "Before publishing, the resource is read live: the same intent is still pending."),
  publishSpec: rule("P10", "Before publishing, the resource is read live: its spec is the one that was decided on."),
  publishOrder: rule("P10", "The Secret is read before that live read, not after it."),
  publishCas: rule("P5 P10", "The Secret is replaced at the version that was read."),
  publishWhole: rule("P12", "Credentials are published completely or not at all."),
  winner: rule("P11", "A key of this intent that the Secret already holds is the winner."),
  recordedWinner: rule("P11", "Without a Secret, the id that was recorded by compare-and-swap is the winner."),
  activateCas: rule("P5 P13", "Activation is compare-and-swap."),
  forceLeaves: rule("P13", "The request that a key fulfils leaves with its activation."),
  commitCas: rule("P5 P13", "The commit is compare-and-swap."),
  replacedDate: rule("P13 P15", "A key is replaced when the Secret stops holding it, not when that was intended."),
  lateDuplicates: rule("P14", "Duplicates are deleted only after the winner's commit."),
  publishedSecond: rule("P14", "A second key of an intent that the Secret holds has users, and is no duplicate."),
  abandoned: rule("P14", "A key whose credentials cannot be had is deleted only once a later one is published."),
  failedCreate: rule("P8 P14", "What a failed create leaves behind is removed."),
  expireLive: rule("P18", "Before deleting a key, the resource is read live."),
  expireSecret: rule("P18", "Before deleting a key, the Secret is read live: it does not hold the key."),
  expireOurs: rule("P2 P18", "Only keys with our marks are deleted."),
  expireSuccessor: rule("P16", "A retired key is deleted only once its successor is published."),
  expireDate: rule("P15 P18", "A retired key is deleted only when its deletionDate has passed."),
  expireOverlap: rule("P15", "A late rotation has no less overlap than was promised when it began."),
  forgetGone: rule("P19", "A retired key leaves the status only when the outside says that it is gone."),
  formerSecret: rule("P18", "A Secret that the resource has left is deleted before the key that it holds."),
  formerDead: rule("P20", "A Secret that the resource has left goes when its key turns out to be gone."),
  compromised: rule("P17", "A compromised key is deleted as soon as its successor is published."),
  requestMeanwhile: rule("P23", "A pending key fulfils a request that is seen meanwhile."),
  forceOnce: rule("P23", "Each value of the force annotation forces once."),
  forceBound: rule("P24", "At most five keys are retired by force at a time."),
  specChange: rule("P25", "Changed parameters, name or instance are a rotation."),
  elsewhere: rule("P28", "Where a key is made from something else, marks are looked at before it is intended."),
  ineffective: rule("", "Where the new credentials are those of the old key, the old key stays."),
  paused: rule("P26", "A paused resource is left alone."),
  frozen: rule("P26", "A frozen resource is not rotated."),
  pastMarks: rule(
    "P28",
    "A live key with a higher sequence than the status knows means that the status is from the past.",
  ),
  pastNewest: rule("P28", "Then the key with the highest sequence becomes active."),
  pastUid: rule("P2", "Keys of the same kind and name under a UID that is no more are ours."),
  importMarks: rule("P32", "A key that is taken over is marked."),
  importForeign: rule("P32", "A key that another living owner has marked is not taken over."),
  externalName: rule("P31", "An external-name that was tampered with brings a new key."),
  unknownKeys: rule("P29", "Keys with our marks that the status does not know are retired."),
  activeGone: rule("P30", "An active key that is gone outside is replaced."),
  goneAsked: rule("P30", "Gone is believed only when the service itself was asked for that key."),
  routerWord: rule("P30", "A router's word is not the service's."),
  secretEdited: rule("P4 P33", "A Secret that somebody has edited is written again."),
  settleTime: rule("P35", "With a pending key not found, the finalizer stays for a settle time."),
  departById: rule("P9 P35", "When the resource goes, keys that no list shows are asked for by id."),
  orphan: rule("P36", "deletionPolicy Orphan keeps the keys."),
  instanceGone: rule("P37", "An instance counts as gone only when the service says so."),
  sweep: rule("P39", "Keys of our cluster whose resource is gone are swept."),
  sweepOwners: rule("P39", "The sweep leaves the keys of every living resource alone."),
  clock: rule("P41", "While clocks disagree, nothing is rotated or deleted."),
  clockLive: rule("P18 P41", "The clock counts as of the live read before the delete."),
  silence: rule("", "Key material is in no log line, event or status."),
  rest: rule("", "At rest nothing is written."),
  wakes: rule("P42", "What is due is woken up for, and nothing is polled."),
  uniqueNames: rule(
    "P3",
    "The name of a key follows from the owner's UID, so that two resources never ask for the same one.",
  ),
  ttlMoves: rule("P15", "A ttl that is changed moves the dates of keys already retired."),
  vanished: rule("P20", "A retired key that somebody else removed leaves the status."),
  republishLook: rule(
    "P33",
    "Before the active key is published again, a look outside tells whether it still is the newest.",
  ),
  windows: rule("P22", "A rotation that is due waits for its window."),
} as const satisfies Readonly<Record<string, RuleText>>;

export type Rule = keyof typeof RULES;

/** Rules of docs/protocol.md that no schedule can show to be broken, and where they are shown instead. */
export const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  P1: "test/reconcile/btp.test.ts",
  P21: "src/engine/decide.test.ts",
  P27: "src/reconcile/managed/start-limiter.test.ts",
  P34: "src/reconcile/managed/departure.test.ts",
  P38: "src/reconcile/managed/config-keeper.test.ts",
  P40: "src/base/instant.test.ts",
};
