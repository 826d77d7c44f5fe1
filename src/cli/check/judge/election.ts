import type { KubeObject } from "../../../kube/objects.ts";
import { recordOf, recordsIn } from "../../../kube/record.ts";

/** Unless somebody says otherwise. */
export const LEASE = "keyturn";

/** How the operator of a Deployment is elected, by what it is told. */
interface Election {
  readonly isElected: boolean;
  readonly leaseName: string;
  /** Undefined: where its pods are. */
  readonly leaseNamespace: string | undefined;
}

export function electionOf(deployment: KubeObject): Election {
  const words = wordsOf(deployment);
  const said = (flag: string): string | undefined =>
    words.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
  return {
    isElected: words.includes("--leader-elect"),
    leaseName: said("--lease-name") ?? LEASE,
    leaseNamespace: said("--lease-namespace"),
  };
}

/** What an operator is told on its command line. */
export function wordsOf({ spec }: KubeObject): readonly string[] {
  const pod = recordOf(recordOf(recordOf(spec).template).spec);
  return recordsIn(pod.containers).flatMap(({ args }) => (Array.isArray(args) ? args.map(String) : []));
}
