import { APP_GUID_LABEL, BINDING_GUID_LABEL, BINDING_KIND, KORIFI_GROUP, KORIFI_VERSION } from "../api/korifi/names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";
import type { Binding } from "./model.ts";
import { labelOf, MAX_LABEL_LENGTH, ownDirectoryName, serviceBindingName } from "./names.ts";

export interface ProjectionPlace {
  readonly namespace: string;
  /** Where the files are, below the root of all bindings: one of `directoriesFor`. */
  readonly directory: string;
}

/**
 * What has a binding projected into the workloads of its application, by the runtime that looks after such objects; undefined
 * for a key. To be applied: what others say in it, such as a type, stays theirs.
 */
export function serviceBindingObject(
  { name, appName, mountName }: Binding,
  { namespace, directory }: ProjectionPlace,
): KubeObject | undefined {
  if (appName === undefined || mountName === undefined) return undefined;
  const label = labelOf(name);
  return {
    apiVersion: "servicebinding.io/v1",
    kind: "ServiceBinding",
    metadata: {
      name: serviceBindingName(name),
      namespace,
      labels: { [BINDING_GUID_LABEL]: label, [APP_GUID_LABEL]: appName },
      ...(label !== name && { annotations: { [BINDING_GUID_LABEL]: name } }),
    },
    spec: {
      name: directory,
      workload: {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        selector: { matchLabels: { [APP_GUID_LABEL]: appName } },
      },
      service: { apiVersion: `${KORIFI_GROUP}/${KORIFI_VERSION}`, kind: BINDING_KIND, name },
    },
  };
}

/** Workloads bear the name of their application as a label. */
export const canBeProjected = (appName: string): boolean => appName.length <= MAX_LABEL_LENGTH;

/** What the specification allows as the name of a directory, but for the two that lead elsewhere. */
const DIRECTORY = /^(?![.]{1,2}$)[a-z0-9.-]{1,253}$/;

export const isDirectory = (name: string | undefined): name is string => name !== undefined && DIRECTORY.test(name);

/**
 * Where its files may be, best first; to be the first that is no other binding's of the application. One that is there
 * stays, whoever has chosen it: files do not move without need.
 */
export const directoriesFor = (
  { name, uid, displayName }: Binding,
  present: KubeObject | undefined,
): readonly string[] => [
  ...new Set([directoryOf(present), displayName, name, ownDirectoryName(name, uid)].filter(isDirectory)),
];

/** The directory that a ServiceBinding has. */
export function directoryOf(projection: KubeObject | undefined): string | undefined {
  const { name } = recordOf(projection?.spec);
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** The application whose workloads a ServiceBinding is projected into. */
export function projectedInto({ spec }: KubeObject): string | undefined {
  const { matchLabels } = recordOf(recordOf(recordOf(spec).workload).selector);
  const name = recordOf(matchLabels)[APP_GUID_LABEL];
  return typeof name === "string" ? name : undefined;
}
