import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { InvalidValue } from "../../../base/errors.ts";
import { NotServed } from "../../../kube/errors.ts";
import { ifFound } from "../../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../../kube/objects.ts";
import { createBtpFamily } from "../../../reconcile/btp/btp-family.ts";
import { SpecProblem } from "../../../reconcile/managed/spec-problem.ts";
import type { Bench } from "../bench.ts";
import { lookAtDefinition, planDefinition } from "../definition-plan.ts";
import { lookAtOperator, type OperatorTraces, operatorInTheWay } from "../other-operator.ts";
import { listed, pickOf } from "../pick.ts";
import { IMPORTING, NOTHING_TO_DO, type Plan, together } from "../plan.ts";
import { prepareIdentity } from "../prepare.ts";
import type { ImportSource, ImportWish } from "../source.ts";
import { lookAtKey } from "../takeover/look-outside.ts";
import type { Candidate } from "../work-through.ts";
import {
  IMPORTED_FROM,
  ourBinding,
  ourName,
  readSapBinding,
  retiredBinding,
  SAP_GROUP,
  sapBindingType,
} from "./sap-binding.ts";
import { planSap, type SapFacts } from "./sap-plan.ts";

/** What an operator takes that was told nothing else. */
const family = createBtpFamily();

const traces: OperatorTraces = {
  title: "sap-btp-service-operator",
  images: /sap-btp-service-operator/,
  names: /^sap-btp-(service-)?operator(-|$)/,
  leases: /\.cloud\.sap\.com$/,
  group: SAP_GROUP,
};

export const sapBtpOperator: ImportSource = {
  name: "sap-btp-operator",
  traces,
  isNamespaced: true,
  prepare: async (bench) => {
    const refusals = operatorInTheWay(traces, await lookAtOperator(bench.kube, bench.now()));
    const definition = planDefinition(await lookAtDefinition(bench, serviceBinding), traces);
    return together({ ...NOTHING_TO_DO, refusals }, definition, await prepareIdentity(bench));
  },
  find: async (bench, wish) => {
    const { namespace } = wish;
    const all = await listed(bench, sapBindingType, namespace === undefined ? {} : { namespace });
    const over = await takenOver(bench, wish, all);
    const names = wish.names?.filter((name) => !over.some((one) => one.name === name));
    const picked = pickOf(all, sapBindingType, { ...wish, names });
    // One that was rotated away goes with its successor.
    const chosen = picked.filter((binding) => names !== undefined || readSapBinding(binding).staleOf === undefined);
    const left = chosen.map((theirs) => ({
      title: `ServiceBinding ${keyOf(theirs.metadata)}`,
      family,
      look: () => lookAndPlan(theirs.metadata, bench, { ...wish, namesake: namesakeIn(chosen, theirs) }),
    }));
    return [...left, ...over.map(({ candidate }) => candidate)];
  },
  afterwards: [
    "Run the operator (keyturn manifests): it takes over each key that is named here, and makes none.",
    "SAP's operator may run again for service instances; it knows these bindings no more.",
  ],
};

interface TakenOver {
  readonly name: string;
  readonly candidate: Candidate;
}

/** Those that were asked for by name and are ours by now: theirs is gone, and that is no mistake. */
async function takenOver(
  bench: Bench,
  { names = [], namespace }: ImportWish,
  theirs: readonly KubeObject[],
): Promise<readonly TakenOver[]> {
  const found: TakenOver[] = [];
  // Ours is found by both names.
  if (namespace === undefined) return found;
  for (const name of names) {
    const ref = { namespace, name };
    if (theirs.some(({ metadata }) => metadata.name === name)) continue;
    const ourRef = { name: `${namespace}-${name}` };
    const ours = await findOurs(bench, ourRef.name);
    if (ours?.metadata.annotations?.[IMPORTED_FROM] === undefined) continue;
    const plan = { ...NOTHING_TO_DO, hints: [`Keyturn looks after it already: ServiceBinding ${ourRef.name}`] };
    found.push({ name, candidate: { title: `ServiceBinding ${keyOf(ref)}`, look: async () => plan } });
  }
  return found;
}

/** None, too, where the kind is not there yet; that it is missing is said once for all. */
async function findOurs({ kube, signal }: Bench, name: string): Promise<KubeObject | undefined> {
  try {
    return await ifFound(kube.get(serviceBinding, { name }, { signal }));
  } catch (error) {
    if (error instanceof NotServed) return undefined;
    throw error;
  }
}

/** Whoever of them comes first and would be called as this one. */
function namesakeIn(chosen: readonly KubeObject[], theirs: KubeObject): KubeObject | undefined {
  const first = chosen.find((one) => ourName(one) === ourName(theirs));
  return first === theirs ? undefined : first;
}

interface SapWish extends ImportWish {
  readonly namesake: KubeObject | undefined;
}

async function lookAndPlan(metadata: KubeObject["metadata"], bench: Bench, wish: SapWish): Promise<Plan> {
  const { namespace = "", name } = metadata;
  const theirs = await ifFound(bench.kube.get(sapBindingType, { namespace, name }, { signal: bench.signal }));
  // It goes last: nothing is left to do.
  if (!theirs || theirs.metadata.uid !== metadata.uid) return NOTHING_TO_DO;
  const facts = await lookAt(theirs, bench, wish);
  return planSap({ ...facts, namesake: wish.namesake }, wish);
}

async function lookAt(theirs: KubeObject, bench: Bench, { providerConfig }: ImportWish): Promise<SapFacts> {
  const { namespace = "", name, uid } = theirs.metadata;
  const siblings = await listed(bench, sapBindingType, { namespace });
  const stale = siblings.filter((one) => readSapBinding(one).staleOf === name);
  const ours = await findOurs(bench, ourName(theirs));
  const facts = { theirs, stale, ours, manifest: undefined, takeover: undefined };
  const { annotations = {} } = ours?.metadata ?? {};
  const { bindingId, instanceId } = readSapBinding(theirs);
  const isForeign = ours !== undefined && annotations[IMPORTED_FROM] !== uid;
  const isOver = ours !== undefined && annotations[IMPORTING] === undefined;
  // Of one that is about something else, that is done, or that has no key, nothing more needs to be known.
  if (isForeign || isOver || bindingId === undefined || instanceId === undefined) return facts;
  try {
    const manifest = ours ?? ourBinding(theirs, providerConfig);
    const spec = family.kind.readSpec(manifest);
    const retired = stale.flatMap((one) => retiredBinding(one) ?? []);
    const looked = { bench, family, object: ours, manifest, spec, keyId: bindingId, retired };
    return { ...facts, manifest, takeover: await lookAtKey(looked) };
  } catch (error) {
    if (!(error instanceof SpecProblem || error instanceof InvalidValue)) throw error;
    return { ...facts, problem: error.message };
  }
}
