import { Redacted } from "../../base/redacted.ts";
import type { HttpPort } from "../../providers/http-port.ts";
import { actOf, atFirstCreate, faultOf, kindOf, type Mutant, NO_SWEEP } from "./mutant.ts";
import { connecting } from "./tampering.ts";

/** Takes a router's 404 for the service's own word. */
const believing = (http: HttpPort): HttpPort => ({
  send: async (request, signal) => {
    const answer = await http.send(request, signal);
    if (answer.headers["x-cf-routererror"] === undefined) return answer;
    const body = JSON.stringify({ error: "NotFound", description: "could not find it" });
    return { status: 404, headers: {}, body: new Redacted(body) };
  },
});

/** Shows a space to those who may see none. */
const seeingSpaces = (http: HttpPort): HttpPort => ({
  send: async (request, signal) => {
    const answer = await http.send(request, signal);
    if (!request.url.includes("/v3/spaces")) return answer;
    const body = JSON.stringify({ pagination: { total_results: 1, total_pages: 1 }, resources: [{ guid: "s" }] });
    return { status: 200, headers: {}, body: new Redacted(body) };
  },
});

/** Rules about keys that go: with their resource, by the sweep, by the clock. */
export const LEAVING: readonly Mutant[] = [
  {
    rule: "settleTime",
    name: "no settle time when the resource goes",
    tampering: {
      ...NO_SWEEP,
      options: (options) => ({ ...options, kind: { ...options.kind, settleMs: 0 } }),
    },
    baseline: NO_SWEEP,
    prelude: atFirstCreate({ kind: "fault", fault: "late" }),
    focus: actOf("deleteResource"),
    stories: ["rotate", "create"],
  },
  {
    rule: "routerWord",
    name: "a router's word is taken for the service's",
    tampering: { ...NO_SWEEP, http: believing },
    baseline: NO_SWEEP,
    focus: faultOf("unknownRoute"),
    stories: ["delete"],
  },
  {
    rule: "sight",
    name: "what nobody lets us see counts as gone",
    tampering: { ...NO_SWEEP, http: seeingSpaces },
    baseline: NO_SWEEP,
    family: "cloudfoundry",
    stories: ["loseRights", "deleteUnseen"],
  },
  {
    rule: "unmarkedYet",
    name: "a key that was made without marks is nobody's",
    tampering: connecting((connection) => ({
      findByName: async (...input) => {
        const found = await connection.findByName(...input);
        return found.map(({ isUnmarkedYet: _, ...key }) => key);
      },
    })),
    family: "cloudfoundry",
    focus: faultOf("crashAfter", "lost"),
    stories: ["rotate", "create"],
    climates: ["unmarked"],
  },
  {
    rule: "departById",
    name: "a key that no list shows is not asked for when the resource goes",
    tampering: connecting(() => ({ observe: async () => undefined })),
    stories: ["orphanEarly"],
    climates: ["lagging"],
  },
  {
    rule: "orphan",
    name: "keys that are to be kept are deleted",
    tampering: {
      options: (options) => {
        const { kind } = options;
        const readDeparture: typeof kind.readDeparture = (object) => ({
          ...kind.readDeparture(object),
          deletionPolicy: "delete",
        });
        return { ...options, kind: { ...kind, readDeparture } };
      },
    },
    stories: ["orphan"],
  },
  {
    rule: "instanceGone",
    name: "an instance counts as gone whatever the service says",
    tampering: { ...NO_SWEEP, ...connecting(() => ({ observeInstance: async () => "gone" })) },
    baseline: NO_SWEEP,
    stories: ["delete"],
  },
  {
    rule: "sweep",
    name: "no sweep",
    tampering: NO_SWEEP,
    focus: actOf("dropFinalizerAndDelete"),
    stories: ["delete", "rotate"],
  },
  {
    rule: "sweepOwners",
    name: "the sweep does not ask who is alive",
    tampering: { sweeps: "blindly" },
    stories: ["rotate", "neighbours"],
  },
  {
    rule: "expireOurs",
    name: "keys of others are taken for ours",
    tampering: connecting((connection) => ({
      observe: async (id, signal) => claimed(await connection.observe(id, signal)),
      findByName: async (...input) => (await connection.findByName(...input)).map((key) => claimed(key) ?? key),
    })),
    stories: ["nameTaken"],
  },
  {
    rule: "clock",
    name: "a clock that has jumped is believed",
    tampering: { options: (options) => ({ ...options, isSkewed: () => false }) },
    focus: kindOf("jump"),
    stories: ["nearlyExpire"],
  },
  {
    rule: "clockLive",
    name: "the clock is compared only when a reconcile begins",
    tampering: {
      options: (options, process) => {
        let first: { readonly reconcile: number; readonly isSkewed: boolean } | undefined;
        const isSkewed = (): boolean => {
          if (first?.reconcile !== process.begun) first = { reconcile: process.begun, isSkewed: options.isSkewed() };
          return first.isSkewed;
        };
        return { ...options, isSkewed };
      },
    },
    // Long enough for a look outside, during which the clock can jump.
    prelude: () => ({ kind: "pause", ms: 660_000 }),
    focus: kindOf("jump"),
    stories: ["nearlyExpire"],
  },
];

type Seen = Awaited<ReturnType<Parameters<Parameters<typeof connecting>[0]>[0]["observe"]>>;

/** The same key with our marks. */
const claimed = (key: Seen): Seen =>
  key && {
    ...key,
    marks: {
      ...key.marks,
      clusterId: "cluster-1",
      ownerUid: "x",
      ownerKind: "ServiceBinding",
      ownerName: "orders",
      sequence: 2,
    },
  };
