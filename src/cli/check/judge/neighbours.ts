import { type KubeObject, keyOf } from "../../../kube/objects.ts";
import { recordOf, recordsIn } from "../../../kube/record.ts";
import { type Finding, hint, judged, type Sight } from "../finding.ts";

export interface NeighbourFacts {
  /** All Deployments there are. */
  readonly deployments: Sight<readonly KubeObject[]>;
  /** Switched on. */
  readonly controllers: readonly string[];
}

/** Somebody else's operator that writes the same objects as one of our controllers. */
interface Neighbour {
  readonly name: string;
  readonly images: RegExp;
  /** Our controllers that it gets in the way of. */
  readonly controllers: RegExp;
  readonly does: string;
  readonly remedy: string;
}

const NEIGHBOURS: readonly Neighbour[] = [
  {
    name: "crossplane-provider-btp",
    images: /(^|[/-])provider-btp\b/,
    controllers: /^btp$/,
    does: "looks after ServiceBindings of the same group",
    remedy: "stop it before Keyturn works on them: each would undo what the other does",
  },
  {
    name: "crossplane-provider-cloudfoundry",
    images: /(^|[/-])provider-cloudfoundry\b/,
    controllers: /^cloudfoundry/,
    does: "looks after ServiceCredentialBindings of the same group",
    remedy: "stop it before Keyturn works on them: each would undo what the other does",
  },
  {
    name: "sap-btp-service-operator",
    images: /sap-btp-service-operator/,
    controllers: /^btp$/,
    does: "makes service bindings at the same Service Manager, from kinds of its own",
    remedy:
      "let no binding be looked after by both; its credentialsRotationPolicy and a rotation here are one too many",
  },
  {
    name: "Reloader",
    images: /(^|\/)reloader\b/,
    controllers: /^restart$/,
    does: "restarts workloads when Secrets change",
    remedy: "keyturn import reloader says what would change; until then annotate no workload for both",
  },
  {
    name: "Korifi",
    images: /korifi-controllers/,
    controllers: /^cf-/,
    does: "looks after service instances and bindings of the same group",
    remedy: "leave them to it (--korifi auto does), or stop its controllers",
  },
  {
    name: "Bindy",
    images: /(^|\/)bindy\b/,
    controllers: /^bind9-/,
    does: "looks after Bind9 resources of the same group",
    remedy: "stop it before Keyturn works on them: each would undo what the other does",
  },
];

/** Who else is at work on what our controllers write. Told by images, which can be named anything: never a problem. */
export function judgeNeighbours({ deployments, controllers }: NeighbourFacts): readonly Finding[] {
  return judged(deployments, "deployments", (all) =>
    all.flatMap((deployment) => {
      const neighbour = isRunning(deployment) ? neighbourIn(deployment) : undefined;
      if (!neighbour || !controllers.some((name) => neighbour.controllers.test(name))) return [];
      return [
        hint(
          `Deployment ${keyOf(deployment.metadata)}`,
          `seems to be ${neighbour.name}, which ${neighbour.does}`,
          neighbour.remedy,
        ),
      ];
    }),
  );
}

const isRunning = ({ spec }: KubeObject): boolean => recordOf(spec).replicas !== 0;

function neighbourIn({ spec }: KubeObject): Neighbour | undefined {
  const pod = recordOf(recordOf(recordOf(spec).template).spec);
  const images = recordsIn(pod.containers).map(({ image }) => withoutTag(String(image)));
  return NEIGHBOURS.find((neighbour) => images.some((image) => neighbour.images.test(image)));
}

const withoutTag = (image: string): string => image.split("@", 1)[0]?.replace(/:[^:/]+$/, "") ?? image;
