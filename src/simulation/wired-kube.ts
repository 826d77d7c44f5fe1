import type { Kube } from "../kube/port.ts";

/** What stands around the controllers of a process. */
export interface Surroundings {
  /** The API itself, for what is read once and never changes. */
  readonly kube: Kube;
  /** Whatever a process says to people. */
  said(text: string): void;
}

/** The port of a process as a wired controller uses it: what cannot matter is no call of its own. */
export const wiredKube = (kube: Kube, surroundings: Surroundings): Kube =>
  talking(identified(kube, surroundings), surroundings);

/** Nobody waits for an event to be written, so nothing can happen to it that matters. */
const talking = (kube: Kube, { said }: Surroundings): Kube => ({
  ...kube,
  create: async (type, object, options) => {
    if (type.kind !== "Event") return kube.create(type, object, options);
    said(JSON.stringify(object));
    return object as never;
  },
});

const isIdentity = (kind: string, name: string | undefined): boolean =>
  kind === "Namespace" || name === "keyturn-fingerprint-key";

/** Which cluster it is, and the key of its digests. */
const identified = (kube: Kube, { kube: direct }: Surroundings): Kube => ({
  ...kube,
  get: (type, ref, options) => (isIdentity(type.kind, ref.name) ? direct : kube).get(type, ref, options),
  create: (type, object, options) =>
    (isIdentity(type.kind, object.metadata.name) ? direct : kube).create(type, object, options),
});
