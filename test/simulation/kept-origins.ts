import type { Origin } from "../../src/simulation/explore.ts";
import type { Disturbance } from "../../src/simulation/perturbation.ts";

const at = (index: number, what: Disturbance["what"]): readonly Disturbance[] => [{ at: index, what }];

const day = 86_400_000;

/** Schedules that found a mistake once, and what the mistake was. */
export const keptOrigins: readonly (readonly [reason: string, origin: Origin])[] = [
  [
    "a restored resource has another UID: a key of its former life is not a duplicate of the new one",
    {
      family: "btp",
      story: "recreate",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "fault", fault: "crashBefore" }),
    },
  ],
  [
    "the moment of replacement is when the Secret was written, not when its writing was prepared",
    { family: "btp", story: "outage", climate: "calm", seed: 1, disturbances: at(42, { kind: "pause", ms: 3 * day }) },
  ],
  [
    "before the active key is published again, the outside tells whether it still is the newest",
    {
      family: "btp",
      story: "tamper",
      climate: "calm",
      seed: 1,
      disturbances: at(9, { kind: "person", name: "restoreBoth" }),
    },
  ],
  [
    "a status of two keys back that says that a rotation is due is compared with the outside before one is begun",
    {
      family: "btp-consumers",
      story: "heldCompromise",
      climate: "calm",
      seed: 1,
      disturbances: at(40, { kind: "person", name: "restoreBoth" }),
    },
  ],
  [
    "the Secret that a moved reference has left goes before the key in it",
    {
      family: "btp",
      story: "compromise",
      climate: "calm",
      seed: 1,
      disturbances: at(1, { kind: "person", name: "moveSecret" }),
    },
  ],
  [
    "the Secret that was left goes too when its key was removed outside",
    {
      family: "btp",
      story: "loseKey",
      climate: "calm",
      seed: 1,
      disturbances: at(2, { kind: "person", name: "moveSecret" }),
    },
  ],
  [
    "a Secret that was restored with an earlier UID is taken over, not refused",
    {
      family: "btp",
      story: "recreate",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "restoreSecret" }),
    },
  ],
  [
    "a Secret that names an earlier UID is written again before it is collected as garbage",
    {
      family: "btp",
      story: "create",
      climate: "calm",
      seed: 1,
      disturbances: at(12, { kind: "person", name: "recreate" }),
    },
  ],
  [
    "a key that is being made does not count as failed because the clock has jumped",
    {
      family: "btp",
      story: "change",
      climate: "asynchronous",
      seed: 1,
      disturbances: at(15, { kind: "jump", byMs: day }),
    },
  ],
  [
    "a name that is taken by a key that lists do not show yet is not asked for in a hot loop",
    {
      family: "btp",
      story: "create",
      climate: "lagging",
      seed: 1,
      disturbances: at(8, { kind: "fault", fault: "crashAfter" }),
    },
  ],
  [
    "an orphaned key that lists do not show yet is set free all the same",
    { family: "btp", story: "orphan", climate: "lagging", seed: 1, disturbances: [] },
  ],
  [
    "a clock that was wrong for a while does not put off the next look outside",
    { family: "btp", story: "loseKey", climate: "lagging", seed: 1, disturbances: at(3, { kind: "jump", byMs: day }) },
  ],
  [
    "a key is not published where the spec no longer points",
    {
      family: "btp",
      story: "rotate",
      climate: "racing",
      seed: 1,
      disturbances: at(6, { kind: "person", name: "moveSecret" }),
    },
  ],
  [
    "a key that was taken over and does not give its credentials had users: it is not deleted at once",
    {
      family: "btp",
      story: "import",
      climate: "calm",
      seed: 1,
      disturbances: at(14, { kind: "fault", fault: "withheld" }),
    },
  ],
  [
    "a key in another instance is not intended on a status from the past",
    {
      family: "btp",
      story: "restoreBoth",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "changeInstance" }),
    },
  ],
  [
    "a key whose credentials change nothing replaces one that cannot stay: its external-name was tampered with",
    {
      family: "btp",
      story: "sameCredentials",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "tamperExternalName" }),
    },
  ],
  [
    "a key whose credentials change nothing replaces one that cannot stay: it was removed outside",
    {
      family: "btp",
      story: "sameCredentials",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "removeActiveOutside" }),
    },
  ],
  [
    "a key that is retired already is not retired once more for another reason",
    {
      family: "btp",
      story: "sameCredentials",
      climate: "asynchronous",
      seed: 25_883,
      disturbances: [
        { at: 0, what: { kind: "fault", fault: "crashAfter" } },
        { at: 3, what: { kind: "person", name: "startRotation" } },
        { at: 8, what: { kind: "person", name: "reapply" } },
        { at: 10, what: { kind: "person", name: "compromise" } },
      ],
    },
  ],
  [
    "a failed create whose removal fails too is not waited for",
    { family: "btp", story: "brokerFails", climate: "asynchronous", seed: 1, disturbances: [] },
  ],
  [
    "what a wrong clock said about the next look does not hold once the clock is right",
    { family: "btp", story: "moveSecret", climate: "calm", seed: 1, disturbances: at(4, { kind: "jump", byMs: day }) },
  ],
  [
    "a compromised key goes at once, whatever else its rotation was for",
    {
      family: "btp",
      story: "compromise",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "dropExternalName" }),
    },
  ],
  [
    "a key that turns out to be compromised while its successor needs another name goes at once all the same",
    {
      family: "btp",
      story: "nameTaken",
      climate: "calm",
      seed: 1,
      disturbances: at(11, { kind: "person", name: "compromise" }),
    },
  ],
  [
    "a second key of the first intent that is in the Secret is not a duplicate that nobody had",
    {
      family: "btp",
      story: "create",
      climate: "racing",
      seed: 1,
      disturbances: [
        { at: 12, what: { kind: "rival", pattern: 4_063_092_191 } },
        { at: 15, what: { kind: "person", name: "stripSecret" } },
      ],
    },
  ],
  [
    "a second key that is in the Secret and that no list shows yet is asked for before the Secret is written again",
    {
      family: "btp",
      story: "rotate",
      climate: "racing",
      seed: 1,
      disturbances: [
        { at: 1, what: { kind: "rival", pattern: 1_732_269_610 } },
        { at: 9, what: { kind: "person", name: "stripSecret" } },
      ],
    },
  ],
  [
    "a Secret that was left, and that was restored unseen with a key that is gone since, goes with the next look",
    {
      family: "btp",
      story: "moveSecret",
      climate: "calm",
      seed: 1,
      disturbances: [
        { at: 2, what: { kind: "stale", unseen: "restoreSecret" } },
        { at: 8, what: { kind: "pause", ms: 3 * day } },
      ],
    },
  ],
  [
    "a child that is ill when the status is lost is waited for: an older one is not published over it",
    {
      family: "rotating",
      story: "restoreLong",
      climate: "asynchronous",
      seed: 1,
      disturbances: [
        { at: 6, what: { kind: "fault", fault: "crashAfter" } },
        { at: 9, what: { kind: "fault", fault: "lost" } },
      ],
    },
  ],
  [
    "the same where no status is left at all",
    {
      family: "rotating",
      story: "wipe",
      climate: "asynchronous",
      seed: 1,
      disturbances: [
        { at: 3, what: { kind: "fault", fault: "crashBefore" } },
        { at: 4, what: { kind: "fault", fault: "malformed" } },
        { at: 7, what: { kind: "fault", fault: "timeout" } },
      ],
    },
  ],
  [
    "a key of ours that failed before it could be marked is removed, and is nobody else's",
    {
      family: "cloudfoundry",
      story: "brokerFails",
      climate: "unmarked",
      seed: 501_824,
      disturbances: [
        { at: 7, what: { kind: "person", name: "changeName" } },
        { at: 10, what: { kind: "fault", fault: "timeout" } },
        { at: 15, what: { kind: "fault", fault: "malformed" } },
      ],
    },
  ],
  [
    "a conflict does not tell that a child is gone: one that is still there is not forgotten",
    {
      family: "generic",
      story: "compromise",
      climate: "asynchronous",
      seed: 1,
      disturbances: at(96, { kind: "fault", fault: "conflict" }),
    },
  ],
  [
    "a key that has no marks yet goes with its resource",
    {
      family: "cloudfoundry",
      story: "neighbours",
      climate: "unmarked",
      seed: 1,
      disturbances: [
        { at: 9, what: { kind: "fault", fault: "unavailable" } },
        { at: 15, what: { kind: "person", name: "deleteResource" } },
      ],
    },
  ],
  [
    "a child that fails for good because its instance is gone is collected as garbage once its parent is gone",
    {
      family: "rotating",
      story: "instanceGone",
      climate: "calm",
      seed: 1,
      disturbances: [
        { at: 1, what: { kind: "person", name: "recreate" } },
        { at: 3, what: { kind: "jump", byMs: day } },
      ],
    },
  ],
  [
    "whoever mends a resource whose instance is gone mends the child it had given up too",
    {
      family: "rotating",
      story: "instanceGone",
      climate: "asynchronous",
      seed: 839991212,
      disturbances: [
        { at: 1, what: { kind: "person", name: "changeName" } },
        { at: 16, what: { kind: "person", name: "reapply" } },
        { at: 18, what: { kind: "fault", fault: "empty" } },
        { at: 31, what: { kind: "jump", byMs: day } },
      ],
    },
  ],
  [
    "whoever looks at a child alone cannot tell that its instance is gone",
    {
      family: "rotating",
      story: "instanceGone",
      climate: "asynchronous",
      seed: 845534954,
      disturbances: [
        { at: 0, what: { kind: "person", name: "disownChild" } },
        { at: 2, what: { kind: "person", name: "recreate" } },
      ],
    },
  ],
  [
    "nothing tells of a key whose Secret and name were taken away before it was committed",
    {
      family: "btp",
      story: "nameTaken",
      climate: "lagging",
      seed: 845547228,
      disturbances: [
        { at: 21, what: { kind: "person", name: "tamperExternalName" } },
        { at: 24, what: { kind: "person", name: "stopRotation" } },
        { at: 30, what: { kind: "person", name: "moveSecret" } },
      ],
    },
  ],
  [
    "who asked for somebody else's key makes one once that is gone",
    {
      family: "btp",
      story: "covet",
      climate: "calm",
      seed: 845580904,
      disturbances: [
        { at: 4, what: { kind: "pause", ms: 3 * day } },
        { at: 5, what: { kind: "zombie", pauseMs: 15 * day } },
      ],
    },
  ],
  [
    "a key that was ready waits again when restarts are stopped before it is published",
    {
      family: "rings-restarted",
      story: "changeKeyName",
      climate: "calm",
      seed: 845543939,
      disturbances: [
        { at: 51, what: { kind: "jump", byMs: -day } },
        { at: 63, what: { kind: "fault", fault: "timeout" } },
        { at: 70, what: { kind: "person", name: "stopRestarts" } },
        { at: 88, what: { kind: "fault", fault: "crashAfter" } },
      ],
    },
  ],
  [
    "a trouble that is looked at no more wakes nobody up",
    {
      family: "rings",
      story: "silentWhenGone",
      climate: "late",
      seed: 845557005,
      disturbances: [
        { at: 5, what: { kind: "jump", byMs: day } },
        { at: 7, what: { kind: "person", name: "shutOut" } },
        { at: 11, what: { kind: "person", name: "wipeStatus" } },
      ],
    },
  ],
  [
    "an active key that was set free before its resource was restored gets its marks again",
    {
      family: "btp",
      story: "orphan",
      climate: "calm",
      seed: 1,
      disturbances: at(1, { kind: "person", name: "recreate" }),
    },
  ],
  [
    "the same for a child that was set free",
    {
      family: "generic",
      story: "orphan",
      climate: "calm",
      seed: 1,
      disturbances: at(5, { kind: "person", name: "recreate" }),
    },
  ],
  [
    "a child that a person disowned, and whose parent a person then took away, is nobody's: the judge knows that",
    {
      family: "rotating",
      story: "pause",
      climate: "calm",
      seed: 1,
      disturbances: [
        { at: 0, what: { kind: "person", name: "disownChild" } },
        { at: 2, what: { kind: "person", name: "dropFinalizerAndDelete" } },
      ],
    },
  ],
  [
    "a key that could not be marked yet is not activated, where there is no Secret either",
    {
      family: "cloudfoundry",
      story: "noSecret",
      climate: "unmarked",
      seed: 1,
      disturbances: at(9, { kind: "person", name: "loseSomeRights" }),
    },
  ],
  [
    "whoever was slow to leave lays no hand on the keys of a resource that was restored meanwhile",
    {
      family: "cloudfoundry",
      story: "delete",
      climate: "unmarked",
      seed: 1,
      disturbances: [
        { at: 2, what: { kind: "person", name: "recreate" } },
        { at: 3, what: { kind: "zombie", pauseMs: 0 } },
      ],
    },
  ],
  [
    "the same while a rival works on the restored one",
    {
      family: "cloudfoundry",
      story: "neighbourGoes",
      climate: "forgetful",
      seed: 1,
      disturbances: [
        { at: 6, what: { kind: "person", name: "recreate" } },
        { at: 12, what: { kind: "rival", pattern: 2_365_964_443 } },
        { at: 43, what: { kind: "fault", fault: "malformed" } },
      ],
    },
  ],
  [
    "the same where whoever leaves dies before the key is gone",
    {
      family: "cloudfoundry",
      story: "neighbourGoes",
      climate: "forgetful",
      seed: 1,
      disturbances: [
        { at: 1, what: { kind: "person", name: "reapply" } },
        { at: 9, what: { kind: "fault", fault: "crashAfter" } },
        { at: 17, what: { kind: "fault", fault: "crashAfter" } },
      ],
    },
  ],
  [
    "a retired key that the Secret came to hold again is replaced when another key takes its place there, not before",
    {
      family: "btp-consumers",
      story: "heldRestore",
      climate: "calm",
      seed: 1,
      disturbances: at(6, { kind: "person", name: "forceOnceMore" }),
    },
  ],
  [
    "a key is not called compromised by a request that was fulfilled before it: the judge knows that each value asks once",
    {
      family: "btp",
      story: "compromise",
      climate: "calm",
      seed: 1,
      disturbances: [
        { at: 15, what: { kind: "person", name: "changeInstance" } },
        { at: 22, what: { kind: "person", name: "compromise" } },
      ],
    },
  ],
  [
    "a later key than a restored status knows comes back into a ring that was lost meanwhile, and none is made without asking",
    {
      family: "rings",
      story: "restore",
      climate: "calm",
      seed: 11,
      disturbances: [
        { at: 4, what: { kind: "fault", fault: "crashAfter" } },
        { at: 12, what: { kind: "stale", unseen: "deleteRing" } },
        { at: 16, what: { kind: "person", name: "startRotation" } },
      ],
    },
  ],
  [
    "a status and a Secret from a backup bring no key back that the ring has left behind",
    {
      family: "rings",
      story: "restoreDead",
      climate: "calm",
      seed: 1,
      disturbances: at(4, { kind: "person", name: "restoreStatus" }),
    },
  ],
  [
    "a ring that cannot be read is not written over because the Secret is missing too",
    {
      family: "rings",
      story: "editRing",
      climate: "calm",
      seed: 1,
      disturbances: at(0, { kind: "person", name: "deleteSecret" }),
    },
  ],
  [
    "no key is taken out of a ring that has lost the one in use: it may be the last that servers know",
    {
      family: "rings",
      story: "heldWhenGone",
      climate: "late",
      seed: 6506,
      disturbances: [
        { at: 10, what: { kind: "fault", fault: "timeout" } },
        { at: 13, what: { kind: "person", name: "editSecret" } },
        { at: 16, what: { kind: "person", name: "restoreRing" } },
      ],
    },
  ],
  [
    "by a status from the past nobody can tell who has moved on from a key: it stays until that is known",
    {
      family: "rings-restarted",
      story: "podGoes",
      climate: "calm",
      seed: 510,
      disturbances: [
        { at: 4, what: { kind: "person", name: "restoreStatus" } },
        { at: 9, what: { kind: "fault", fault: "lost" } },
      ],
    },
  ],
  [
    "a key that servers accept stays while the status does not say what has replaced it",
    {
      family: "rings-restarted",
      story: "podGoes",
      climate: "calm",
      seed: 50_087,
      disturbances: [
        { at: 1, what: { kind: "person", name: "dateBack" } },
        { at: 4, what: { kind: "person", name: "restoreSecret" } },
        { at: 9, what: { kind: "fault", fault: "malformed" } },
      ],
    },
  ],
  [
    "whoever still runs on a key that a lost status no longer knows is restarted once more",
    {
      family: "rings-restarted",
      story: "compromise",
      climate: "calm",
      seed: 1,
      disturbances: at(56, { kind: "person", name: "wipeStatus" }),
    },
  ],
  [
    "what a look has shown to be from the past is not believed once the clock is right again",
    {
      family: "cloudfoundry",
      story: "restoreLong",
      climate: "forgetful",
      seed: 37_427_807,
      disturbances: [
        { at: 3, what: { kind: "fault", fault: "crashBefore" } },
        { at: 4, what: { kind: "fault", fault: "malformed" } },
        { at: 5, what: { kind: "jump", byMs: -day } },
        { at: 8, what: { kind: "person", name: "changeName" } },
      ],
    },
  ],
  [
    "a template that comes back is rolled out once more, whatever was done with it before",
    {
      family: "restart",
      story: "changedThenEdit",
      climate: "bare",
      seed: 1,
      disturbances: [{ at: 17, what: { kind: "person", name: "undo" } }],
    },
  ],
  [
    "a legacy Secret that was changed itself is projected as it is, though what was migrated from it is behind",
    {
      family: "apps",
      story: "flat",
      climate: "legacy",
      seed: 1,
      disturbances: at(0, { kind: "fault", fault: "crashBefore" }),
    },
  ],
  [
    "an entry of VCAP_SERVICES that stays what it was still says which key it was made from",
    { family: "apps", story: "delete", climate: "followed", seed: 1, disturbances: [] },
  ],
  [
    "a Secret that another process is about to name is not deleted under it",
    {
      family: "apps",
      story: "changeType",
      climate: "followed",
      seed: 1,
      disturbances: at(10, { kind: "zombie", pauseMs: 0, begunBy: "changeType" }),
    },
  ],
  [
    "a binding whose credentials could not be read, and that is gone, leaves VCAP_SERVICES",
    {
      family: "apps",
      story: "break",
      climate: "calm",
      seed: 1,
      disturbances: [
        ...at(4, { kind: "person", name: "wipeInstance" }),
        ...at(14, { kind: "person", name: "deleteBinding" }),
      ],
    },
  ],
  [
    "VCAP_SERVICES is told what the watches do not know yet before a reference moves",
    {
      family: "apps",
      story: "typeInUse",
      climate: "calm",
      seed: 1,
      disturbances: at(81, { kind: "stale", unseen: "changeType" }),
    },
  ],
  [
    "a status from the past whose newest key cannot be had does not give an older one out",
    { family: "btp", story: "recreate", climate: "lagging", seed: 821134854 },
  ],
  [
    "a parent whose status is from the past waits for the newest child, and does not copy an older one",
    { family: "rotating", story: "restoreWithout", climate: "calm", seed: 821181271 },
  ],
  [
    "the same for a Secret that was moved",
    { family: "rotating-consumers", story: "heldMove", climate: "calm", seed: 821185341 },
  ],
  [
    "until a key is activated, the one before it counts, and comes back where the Secret is lost",
    { family: "cloudfoundry", story: "change", climate: "lagging", seed: 821162233 },
  ],
  [
    "who has slept through a resource's being made anew takes no child from it",
    { family: "generic", story: "changeInstance", climate: "calm", seed: 821111746 },
  ],
  [
    "a Secret that was made of a key when that was published elsewhere holds it all the same",
    { family: "btp-consumers", story: "derivedLate", climate: "calm", seed: 821147215 },
  ],
  [
    "who opts in while the watch is behind is waited for: who has not is asked live",
    {
      family: "btp-consumers",
      story: "neverMoves",
      climate: "calm",
      seed: 832461309,
      disturbances: [
        { at: 1, what: { kind: "person", name: "unpause" } },
        { at: 8, what: { kind: "fault", fault: "throttled" } },
        { at: 11, what: { kind: "person", name: "optConsumersOut" } },
        { at: 16, what: { kind: "stale", unseen: "optConsumersIn" } },
      ],
    },
  ],
  [
    "a process that wrote a status without a look outside does not know that it is the latest",
    {
      family: "btp-consumers",
      story: "heldCompromise",
      climate: "calm",
      seed: 832424199,
      disturbances: [
        { at: 13, what: { kind: "fault", fault: "malformed" } },
        { at: 35, what: { kind: "jump", byMs: day } },
        { at: 47, what: { kind: "person", name: "restoreBoth" } },
      ],
    },
  ],
  [
    "a workload whose restarts are stopped may still be moved by somebody else's rollout",
    {
      family: "restart",
      story: "changeThenEdits",
      climate: "calm",
      seed: 832464971,
      disturbances: [
        { at: 7, what: { kind: "fault", fault: "lost" } },
        { at: 10, what: { kind: "person", name: "holdBack" } },
        { at: 13, what: { kind: "fault", fault: "crashBefore" } },
        { at: 18, what: { kind: "fault", fault: "unavailable" } },
      ],
    },
  ],
  [
    "nobody waits until it is known what a workload has of a Secret that is not there",
    { family: "rings-restarted", story: "create", climate: "calm", seed: 832411819 },
  ],
  [
    "the same where somebody has taken the ring away too",
    { family: "rings-restarted", story: "static", climate: "calm", seed: 832399250 },
  ],
  [
    "a child that has replaced its key by itself keeps the old one until its parent gives out the new one",
    {
      family: "rotating-consumers",
      story: "movesLate",
      climate: "calm",
      seed: 835452785,
      disturbances: [
        { at: 4, what: { kind: "person", name: "freeze" } },
        { at: 13, what: { kind: "person", name: "tamperChild" } },
        { at: 32, what: { kind: "pause", ms: 3 * day } },
        { at: 38, what: { kind: "fault", fault: "late" } },
      ],
    },
  ],
  [
    "a child that made another key while it was being replaced went before that key's time",
    { family: "rotating-consumers", story: "behind", climate: "calm", seed: 854705537 },
  ],
  [
    "a Secret that was written long after it was asked for gave out the old key until then",
    {
      family: "generic",
      story: "rotate",
      climate: "calm",
      seed: 20040,
      disturbances: [
        { at: 26, what: { kind: "person", name: "pause" } },
        { at: 29, what: { kind: "rival", pattern: 380122594 } },
        { at: 34, what: { kind: "pause", ms: 3 * day } },
      ],
    },
  ],
  [
    "whether a foundation leaves keys unmarked is not taken from a router's answer",
    {
      family: "cloudfoundry",
      story: "lengthen",
      climate: "unmarked",
      seed: 106600122,
      disturbances: [
        { at: 2, what: { kind: "person", name: "dropExternalName" } },
        { at: 14, what: { kind: "fault", fault: "crashBefore" } },
        { at: 24, what: { kind: "fault", fault: "unknownRoute" } },
      ],
    },
  ],
];
