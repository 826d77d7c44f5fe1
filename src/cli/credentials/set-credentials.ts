import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { DERIVED_FROM, DERIVED_LABEL } from "../../api/korifi/names.ts";
import { UsageError } from "../../base/errors.ts";
import { credentialsData } from "../../korifi/credentials.ts";
import { isRefused, readInstance, viewSecret } from "../../korifi/read-objects.ts";
import { AlreadyExists, Conflict, Invalid, NotFound, NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { apiVersionOf, type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf } from "../../kube/record.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { FIELD_MANAGER } from "../field-manager.ts";
import { Handover, type HandoverOptions } from "./handover.ts";
import { type CredentialsWish, findingText } from "./read-wish.ts";
import { planSet, type SetPlan, type SetStep } from "./set-plan.ts";

export interface SetOptions extends HandoverOptions {
  readonly kube: Kube;
  /** The instance. */
  readonly at: SecretAddress;
  readonly wish: Pick<CredentialsWish, "credentials" | "isDryRun">;
  /** Told of each step once it is done. */
  readonly onStep: (step: SetStep) => void;
}

export type SetResult =
  | { readonly kind: "refused"; readonly why: string; readonly isStopped?: boolean }
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
  const handover = new Handover(options);
  const done: SetStep[] = [];
  let former: Former | undefined;
  let version: string | undefined;
  for (let looks = 0; looks < MAX_LOOKS; ) {
    const { plan, instance, target } = await look(options);
    if (plan.kind === "refused") return plan;
    const { secretName, steps } = plan;
    const isWritten = done.at(-1)?.kind !== "point" && done.at(-1)?.secretName === secretName;
    const left = isWritten ? [] : steps;
    if (left.length === 0) {
      return { kind: "set", secretName, steps: done, version: version ?? target?.metadata.resourceVersion ?? "" };
    }
    let came: Came = "behind";
    for (const step of wish.isDryRun ? left : left.slice(0, 1)) {
      came = await attempt(options, instance, step);
      if (typeof came === "string") break;
      if (step.kind === "point") former ??= { secretName: secretNameIn(instance), pointedAt: secretName };
      else version = came.metadata.resourceVersion;
      done.push(step);
      onStep(step);
    }
    if (came === "held") {
      const why = await handover.pause();
      if (why !== undefined) return giveUp(options, { secretName, why, former, isStopped: handover.isStopped });
    } else if (came === "behind") looks++;
    else if (wish.isDryRun) return { kind: "set", secretName, steps: done };
  }
  throw new Conflict(`${keyOf(options.at)} is written by somebody else all the time: nothing more was tried`);
}

/** What a write came to: `behind`, it was of what is not so any more; `held`, it is not yet anybody else's to write. */
type Came = KubeObject | "behind" | "held";

async function attempt(options: SetOptions, instance: KubeObject, step: SetStep): Promise<Came> {
  try {
    return await carryOut(options, instance, step);
  } catch (error) {
    if ([Conflict, AlreadyExists, NotFound].some((kind) => error instanceof kind)) return "behind";
    const isHeld = error instanceof Invalid && step.kind === "write" && viewSecret(step.over).isMarked === true;
    if (!isHeld) throw error;
    // The operator hands it over once it is pointed at, which is not done here.
    return options.wish.isDryRun ? step.over : "held";
  }
}

/** What the instance named before it was pointed elsewhere. */
interface Former {
  readonly secretName: unknown;
  readonly pointedAt: string;
}

const secretNameIn = ({ spec }: KubeObject): unknown => recordOf(spec).secretName;

interface Failure {
  readonly secretName: string;
  readonly why: string;
  readonly former: Former | undefined;
  readonly isStopped: boolean;
}

/** Nothing is left half done: what this call has changed is as it was. */
async function giveUp({ kube, at }: SetOptions, failure: Failure): Promise<SetResult> {
  const { secretName, former, isStopped } = failure;
  if (former) {
    const instance = await getInstance(kube, at);
    const body = { metadata: sameAs(instance), spec: { secretName: former.secretName ?? null } };
    const isStill = secretNameIn(instance) === former.pointedAt;
    if (isStill) await kube.patch(cfServiceInstance, at, { type: "merge", body }, { fieldManager: FIELD_MANAGER });
  }
  const why = `the Secret ${secretName} is protected for as long as it is marked as made by Keyturn, and ${failure.why}`;
  return { kind: "refused", why: `${why}; nothing has changed`, isStopped };
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
  const { isMarked, derivedFrom } = viewSecret(step.over);
  const isDerived = isMarked === true || derivedFrom !== undefined;
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
