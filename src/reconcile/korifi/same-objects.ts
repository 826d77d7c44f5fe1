import type { Binding, Instance } from "../../korifi/model.ts";
import { isRefused, readBinding, readInstance } from "../../korifi/read-objects.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Seen } from "./korifi-caches.ts";

/** Whether an object says what the cache knows of it, as far as anything is made from that. */
export function isSameInstance(live: KubeObject | undefined, known: Seen<Instance> | undefined): boolean {
  const said = live && readInstance(live);
  if (!said || isRefused(said) || !known) return (!said || isRefused(said)) && !known;
  // Which version its source had is told later than it is made from.
  return JSON.stringify({ ...said, observedVersion: "" }) === JSON.stringify({ ...known.said, observedVersion: "" });
}

/** A binding that is none of the application's, or on its way out, is as good as none. */
export function isSameBinding(
  live: KubeObject | undefined,
  known: Seen<Binding> | undefined,
  appName?: string,
): boolean {
  const said = live && readBinding(live);
  const isThere = said && !isRefused(said) && (appName === undefined || (said.appName === appName && !said.isDeleting));
  if (!isThere || !known) return !isThere && !known;
  return JSON.stringify(factsOf(said)) === JSON.stringify(factsOf(known.said));
}

const factsOf = ({ uid, displayName, instanceName, appName, isDeleting, mountName }: Binding): readonly unknown[] => [
  uid,
  displayName,
  instanceName,
  appName,
  isDeleting,
  mountName,
];
