import { APP_GUID_LABEL, BINDING_GUID_LABEL, BINDING_KIND, KORIFI_GROUP, KORIFI_VERSION } from "../api/korifi/names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";
import type { Binding } from "./model.ts";
import { serviceBindingName } from "./names.ts";

/** What the specification allows as the name of a directory. */
const DIRECTORY = /^[a-z0-9.-]{1,253}$/;

/**
 * What has a binding projected into the workloads of its application, by the runtime that looks after such objects; undefined
 * for a key. To be applied: what others say in it, such as a type, stays theirs. Its name for the service is a directory
 * in the containers, so one that is there stays, whoever has chosen it.
 */
export function serviceBindingObject(
  binding: Binding,
  { namespace, present }: { readonly namespace: string; readonly present: KubeObject | undefined },
): KubeObject | undefined {
  const { name, appName } = binding;
  if (appName === undefined || binding.mountName === undefined) return undefined;
  return {
    apiVersion: "servicebinding.io/v1",
    kind: "ServiceBinding",
    metadata: {
      name: serviceBindingName(name),
      namespace,
      labels: { [BINDING_GUID_LABEL]: name, [APP_GUID_LABEL]: appName },
    },
    spec: {
      name: directoryOf(present) ?? chosenName(binding),
      workload: {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        selector: { matchLabels: { [APP_GUID_LABEL]: appName } },
      },
      service: { apiVersion: `${KORIFI_GROUP}/${KORIFI_VERSION}`, kind: BINDING_KIND, name },
    },
  };
}

function directoryOf(present: KubeObject | undefined): string | undefined {
  const { name } = recordOf(present?.spec);
  return typeof name === "string" && name !== "" ? name : undefined;
}

const chosenName = ({ name, displayName = "" }: Binding): string => (DIRECTORY.test(displayName) ? displayName : name);
