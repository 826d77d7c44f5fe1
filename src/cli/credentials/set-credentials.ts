import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { DERIVED_FROM, DERIVED_LABEL } from "../../api/korifi/names.ts";
import { UsageError } from "../../base/errors.ts";
import { credentialsData } from "../../korifi/credentials.ts";
import { isRefused, readInstance } from "../../korifi/read-objects.ts";
import { AlreadyExists, Conflict, NotFound, NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { apiVersionOf, type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { FIELD_MANAGER } from "../field-manager.ts";
import { type CredentialsWish, findingText } from "./read-wish.ts";
import { planSet, type SetPlan, type SetStep } from "./set-plan.ts";

export interface SetOptions {
  readonly kube: Kube;
  /** The instance. */
  readonly at: SecretAddress;
  readonly wish: Pick<CredentialsWish, "credentials" | "isDryRun">;
  /** Told of each step once it is done. */
  readonly onStep: (step: SetStep) => void;
}

export type SetResult =
  | { readonly kind: "refused"; readonly why: string }
  /** They are set, by these steps. `version` is that of the Secret that has them; undefined where nothing was written. */
  | {
      readonly kind: "set";
      readonly secretName: string;
      readonly steps: readonly SetStep[];
      readonly version?: string;
    };

/** Somebody who writes all the time would keep us here. */
const MAX_LOOKS = 20;

/**
 * Gives an instance its credentials: one look, one write, and the next look, until nothing is left to do. Each write is
 * of what was looked at and nothing else, so whoever comes between is not written over. Must not: show a value.
 */
export async function setCredentials(options: SetOptions): Promise<SetResult> {
  const { onStep, wish } = options;
  const done: SetStep[] = [];
  let version: string | undefined;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const { plan, instance, target } = await look(options);
    if (plan.kind === "refused") return plan;
    const { secretName, steps } = plan;
    const isWritten = done.at(-1)?.kind !== "point" && done.at(-1)?.secretName === secretName;
    const left = isWritten ? [] : steps;
    if (left.length === 0) {
      return { kind: "set", secretName, steps: done, version: version ?? target?.metadata.resourceVersion ?? "" };
    }
    try {
      for (const step of wish.isDryRun ? left : left.slice(0, 1)) {
        const { metadata } = await carryOut(options, instance, step);
        if (step.kind !== "point") version = metadata.resourceVersion;
        done.push(step);
        onStep(step);
      }
    } catch (error) {
      if (!(error instanceof Conflict || error instanceof AlreadyExists || error instanceof NotFound)) throw error;
      continue;
    }
    if (wish.isDryRun) return { kind: "set", secretName, steps: done };
  }
  throw new Conflict(`${keyOf(options.at)} is written by somebody else all the time: nothing more was tried`);
}

interface Look {
  readonly plan: SetPlan;
  readonly instance: KubeObject;
  /** The Secret that has the credentials in the end, where it is there. */
  readonly target: KubeObject | undefined;
}

async function look({ kube, at, wish: { credentials } }: SetOptions): Promise<Look> {
  const object = await getInstance(kube, at);
  const instance = readInstance(object);
  if (isRefused(instance)) {
    const why = instance.findings.map(findingText).join("; ");
    return { plan: { kind: "refused", why }, instance: object, target: undefined };
  }
  const named = instance.source.kind === "managed" ? undefined : instance.source.secretName;
  const source = await findSecret(kube, at, named);
  const said = instance.credentialsName;
  const published = said === named ? source : await findSecret(kube, at, said);
  const plan = planSet({ instance, source, published, credentials });
  const target = [source, published].find((one) => plan.kind === "steps" && one?.metadata.name === plan.secretName);
  return { plan, instance: object, target };
}

async function getInstance(kube: Kube, at: SecretAddress): Promise<KubeObject> {
  try {
    return await kube.get(cfServiceInstance, at);
  } catch (error) {
    const { kind } = cfServiceInstance;
    if (error instanceof NotServed) {
      const remedy = "keyturn crds | kubectl apply --server-side -f - installs it";
      throw new NotServed(`the cluster does not know ${kind}: ${remedy}`, { cause: error });
    }
    if (!(error instanceof NotFound)) throw error;
    throw new UsageError(`there is no ${kind} ${at.name} in namespace ${at.namespace}`, error);
  }
}

export const findSecret = async (
  kube: Kube,
  { namespace }: SecretAddress,
  name: string | undefined,
): Promise<KubeObject | undefined> =>
  name === undefined ? undefined : ifFound(kube.get(secretType, { namespace, name }));

function carryOut({ kube, at, wish }: SetOptions, instance: KubeObject, step: SetStep): Promise<KubeObject> {
  const how = { fieldManager: FIELD_MANAGER, dryRun: wish.isDryRun };
  const { secretName } = step;
  const ref = { namespace: at.namespace, name: secretName };
  if (step.kind === "point") {
    const body = { metadata: sameAs(instance), spec: { secretName } };
    return kube.patch(cfServiceInstance, at, { type: "merge", body }, how);
  }
  const data = credentialsData(wish.credentials).reveal();
  if (step.kind === "create") {
    const metadata = { ...ref, ownerReferences: [ownerReference(instance)] };
    return kube.create<KubeObject>(
      secretType,
      { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data },
      how,
    );
  }
  const isDerived = step.over.metadata.annotations?.[DERIVED_FROM] !== undefined;
  const metadata = { ...sameAs(step.over), ...(isDerived && NOT_DERIVED) };
  return kube.patch(secretType, ref, { type: "merge", body: { metadata, data } }, how);
}

/** What it was once made from says nothing of it any more. */
const NOT_DERIVED = { labels: { [DERIVED_LABEL]: null }, annotations: { [DERIVED_FROM]: null } };

/** What makes a write fail that would be of something else than what was read. */
const sameAs = ({ metadata: { uid, resourceVersion } }: KubeObject) => ({ uid, resourceVersion });

const ownerReference = ({ metadata: { name, uid = "" } }: KubeObject) => ({
  apiVersion: apiVersionOf(cfServiceInstance),
  kind: cfServiceInstance.kind,
  name,
  uid,
});
