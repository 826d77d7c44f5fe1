import { randomBytes } from "node:crypto";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { OWN_PREFIX, ROLL_MANAGER } from "../../src/restart/annotations.ts";
import { rollPatch } from "../../src/restart/restart-patch.ts";
import { deploymentType, kindOf } from "../../src/restart/workload-kinds.ts";
import { SHARED } from "./many-workloads.ts";

/** As many at a time as a client would send that wants to be done soon. */
export const WIDTH = 32;

/** The very write by which the operator restarts a Deployment, sent by a plain client that does nothing else. */
export async function rawRoll(kube: Kube, { metadata }: KubeObject): Promise<void> {
  const kind = kindOf(deploymentType.kind);
  if (!kind) throw new Error("there are no Deployments");
  const now = Date.now();
  const sources = new Map([[`secret/${SHARED}`, { digest: someDigest(), since: now }]] as const);
  const state = { sources, restartedAt: [now], isStopped: false, replacing: undefined };
  const body = rollPatch({ kind, workload: metadata, optIn: { prefix: OWN_PREFIX }, state, publishedAt: now });
  const { namespace = "", name } = metadata;
  const patch = { type: "apply", body, force: true } as const;
  await kube.patch(deploymentType, { namespace, name }, patch, { fieldManager: ROLL_MANAGER });
}

/** As long as those that the operator makes, and another one each time: a write that changes nothing costs nothing. */
const someDigest = (): string =>
  `a.${randomBytes(4).toString("hex")}.${randomBytes(17).toString("base64url").slice(0, 22)}`;
