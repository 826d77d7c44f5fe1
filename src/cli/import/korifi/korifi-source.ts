import { cfServiceBinding } from "../../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../../api/korifi/cf-service-instance.ts";
import { KORIFI_GROUP } from "../../../api/korifi/names.ts";
import { type ReadCredentials, readCredentialsIn } from "../../../korifi/credentials.ts";
import { flatten } from "../../../korifi/flatten.ts";
import { isForProjection, keepsLegacyMount, migratedCredentials } from "../../../korifi/migration.ts";
import type { Instance, SecretView } from "../../../korifi/model.ts";
import { isRefused, readBinding, readInstance, viewSecret } from "../../../korifi/read-objects.ts";
import { ifFound } from "../../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../../kube/objects.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import type { Bench } from "../bench.ts";
import { differencesOf, textsIn } from "../differences.ts";
import { lookAtOperator, type OperatorTraces, operatorInTheWay } from "../other-operator.ts";
import { listed, pick } from "../pick.ts";
import { NOTHING_TO_DO } from "../plan.ts";
import type { ImportSource } from "../source.ts";
import { type BoundFacts, type KorifiFacts, planKorifi } from "./korifi-plan.ts";

const traces: OperatorTraces = {
  title: "Korifi",
  images: /korifi-(controllers|job-task-runner|kpack-image-builder|statefulset-runner)/,
  names: /^korifi-controllers/,
  leases: /\.cloudfoundry\.org$/,
  group: KORIFI_GROUP,
};

/** User-provided service instances, each with its bindings. */
export const korifi: ImportSource = {
  name: "korifi",
  traces,
  isNamespaced: true,
  prepare: async (bench) => ({
    ...NOTHING_TO_DO,
    refusals: operatorInTheWay(traces, await lookAtOperator(bench.kube, bench.now())),
  }),
  find: async (bench, wish) => {
    const instances = await pick(bench, cfServiceInstance, wish);
    return instances.map(({ metadata }) => ({
      title: `${cfServiceInstance.kind} ${keyOf(metadata)}`,
      look: async () => {
        const { namespace = "", name } = metadata;
        const instance = await bench.kube.get(cfServiceInstance, { namespace, name }, { signal: bench.signal });
        return planKorifi(await lookAt(instance, bench), wish);
      },
    }));
  },
  afterwards: [
    "Run the operator with --korifi on, and keep that flag: who wrote a status once stands on the object.",
    "Service instances of type managed need Korifi: where there are such, it cannot go.",
  ],
};

async function lookAt(object: KubeObject, bench: Bench): Promise<KorifiFacts> {
  const { namespace = "", name } = object.metadata;
  const instance = readInstance(object);
  if (isRefused(instance)) {
    return { instance: object, bindings: [], problem: instance.findings.map(({ message }) => message).join("; ") };
  }
  const all = await listed(bench, cfServiceBinding, { namespace });
  const bound = all.filter((one) => {
    const binding = readBinding(one);
    return !isRefused(binding) && binding.instanceName === name;
  });
  if (instance.source.kind !== "own") {
    return { instance: object, bindings: bound.map((one) => ({ object: one, ...UNCHANGED })) };
  }
  const read = await readCredentialsOf(instance, instance.source.secretName, { bench, namespace });
  if (read?.kind !== "credentials") {
    const why = read?.findings.map(({ message }) => message).join("; ") ?? "the Secret is missing";
    return { instance: object, bindings: bound.map((one) => ({ object: one, ...UNCHANGED })), problem: why };
  }
  const bindings: BoundFacts[] = [];
  for (const one of bound) bindings.push(await lookAtBinding(one, instance, { read, bench, namespace }));
  return { instance: object, bindings };
}

const UNCHANGED = { differences: undefined, isRetyped: false } as const;

interface Place {
  readonly bench: Bench;
  readonly namespace: string;
}

const viewOf = async (name: string | undefined, { bench, namespace }: Place): Promise<SecretView | undefined> => {
  if (name === undefined) return undefined;
  const secret = await ifFound(bench.kube.get(secretType, { namespace, name }, { signal: bench.signal }));
  return secret && viewSecret(secret);
};

/** Where the status names what was migrated, that; else what the spec names, which may still be flat. */
async function readCredentialsOf(
  { credentialsName }: Instance,
  secretName: string,
  place: Place,
): Promise<ReadCredentials | undefined> {
  const secret = await viewOf(credentialsName ?? secretName, place);
  if (!secret) return undefined;
  return isForProjection(secret) ? migratedCredentials(secret) : readCredentialsIn(secret);
}

async function lookAtBinding(
  object: KubeObject,
  instance: Instance,
  { read, ...place }: Place & { readonly read: Extract<ReadCredentials, { kind: "credentials" }> },
): Promise<BoundFacts> {
  const binding = readBinding(object);
  if (isRefused(binding)) return { object, ...UNCHANGED };
  const { credentials } = read;
  const namesake = await viewOf(instance.name, place);
  if (keepsLegacyMount({ binding, instance, namesake, credentials })) return { object, ...UNCHANGED };
  const mount = await viewOf(binding.mountName, place);
  if (!mount) return { object, ...UNCHANGED };
  const flat = flatten(credentials);
  const differences = differencesOf(textsIn(mount.data.reveal()), textsIn(flat.data.reveal()), "exact");
  return { object, differences, isRetyped: mount.type !== flat.type };
}
