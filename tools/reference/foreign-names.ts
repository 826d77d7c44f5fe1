import type { NameUse } from "../../src/base/own-names.ts";

/** As of our own names; some are set by their own people's software, and only read here. */
interface ForeignUse extends Omit<NameUse, "by"> {
  readonly by: "people" | "operator" | "others";
}

/** Whose names they are. */
export interface ForeignGroup {
  readonly title: string;
  readonly about: string;
  readonly names: Readonly<Record<string, readonly ForeignUse[]>>;
}

const people = (on: string, about: string): ForeignUse => ({ as: "annotation", on, by: "people", about });
const operator = (as: NameUse["as"], on: string, about: string): ForeignUse => ({ as, on, by: "operator", about });
const others = (as: NameUse["as"], on: string, about: string): ForeignUse => ({ as, on, by: "others", about });
const force = (kind: string): readonly ForeignUse[] => [
  people(kind, "Any value: the active key is replaced now. Each value asks once. `keyturn rotate` sets it."),
];

/**
 * Names that others have defined and that the operator reads or writes. `test/docs/annotations.test.ts` looks for them in
 * the source, both ways.
 */
export const foreignNames: readonly ForeignGroup[] = [
  {
    title: "Of Crossplane",
    about: "Its words for what every managed resource has.",
    names: {
      "crossplane.io/external-name": [
        operator(
          "annotation",
          "any rotated resource",
          "The id of the active key. People may set it on a new resource, to have that key taken over.",
        ),
      ],
      "crossplane.io/paused": [people("any rotated resource", '`"true"`: nothing at all is done about it.')],
      "servicebinding.account.btp.crossplane.io/force-rotation": force("ServiceBinding"),
      "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation": force("ServiceCredentialBinding"),
      "rotatingcredentialbinding.cloudfoundry.crossplane.io/force-rotation": force("RotatingCredentialBinding"),
      "pkg.crossplane.io/package": [
        others("label", "ProviderRevision", "Read by `keyturn import`: which provider it is of."),
      ],
      "pkg.crossplane.io/provider": [
        others("label", "Deployment", "Read by `keyturn import`: which provider it runs."),
      ],
    },
  },
  {
    title: "Of Bindy",
    about: "They stand on Secrets with RNDC keys.",
    names: {
      "bindy.firestoned.io/created-at": [
        operator("annotation", "Secret with an RNDC key", "When it was made. Set to the past, it asks for a rotation."),
      ],
      "bindy.firestoned.io/rotate-after": [
        operator("annotation", "Secret with an RNDC key", "At which age it rotates."),
      ],
      "bindy.firestoned.io/rotation-enabled": [
        operator("label", "Secret with an RNDC key", "On those that rotate, and on no others."),
      ],
      "bindy.firestoned.io/rndc-key-rotated-at": [
        operator(
          "annotation",
          "pod template",
          "When the newest Secret that it is restarted for came to be what it is.",
        ),
      ],
      "bindy.firestoned.io/rndc-created-at": [
        others("annotation", "Secret of Bindy", "Read by `keyturn import bindy`: when Bindy made the key."),
      ],
    },
  },
  {
    title: "Of Korifi",
    about: "By which a runtime for `servicebinding.io` finds the workloads of an application.",
    names: {
      "korifi.cloudfoundry.org/app-guid": [
        others("label", "workload of an application", "Selected by: the name of its CFApp."),
      ],
      "korifi.cloudfoundry.org/service-binding-guid": [
        operator("label", "ServiceBinding of `servicebinding.io`", "The CFServiceBinding that it is for."),
      ],
    },
  },
  {
    title: "Of Reloader",
    about:
      "They count with `--reloader-annotations`, as [Restarts](../restarts.md) says; `keyturn import reloader` reads them all. Sources are named by `secret.reloader.stakater.com/reload`, likewise with `configmap.` and `secretproviderclass.`, with `exclude.` behind those, and with `auto` in the place of `reload`.",
    names: {
      "reloader.stakater.com/auto": [people("workload", "It is restarted for everything that it uses.")],
      "reloader.stakater.com/search": [people("workload", "It is restarted for what bears `match`.")],
      "reloader.stakater.com/match": [people("Secret, ConfigMap", "Workloads with `search` are restarted for it.")],
      "reloader.stakater.com/ignore": [people("Secret, ConfigMap", "Nobody is restarted for it.")],
      "deployment.reloader.stakater.com/pause-period": [
        people("Deployment", "A duration: no other restart within it."),
      ],
      "deployment.reloader.stakater.com/paused-at": [
        others("annotation", "Deployment", "Reloader's own note; it counts for nothing."),
      ],
      "reloader.stakater.com/last-reloaded-from": [
        others("annotation", "pod template", "Reloader's own note; it counts for nothing."),
      ],
      "reloader.stakater.com/rollout-strategy": [people("Rollout", "It counts for nothing.")],
    },
  },
];
