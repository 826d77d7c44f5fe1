import { providerConfig as btpConfig } from "../../../api/btp/provider-config.ts";
import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { providerConfig as cloudFoundryConfig } from "../../../api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../../api/cloudfoundry/service-credential-binding.ts";
import type { CustomResource } from "../../../api/custom-resource.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { createBtpFamily } from "../../../reconcile/btp/btp-family.ts";
import { createCloudFoundryFamily } from "../../../reconcile/cloudfoundry/cloud-foundry-family.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import { fieldsOf, textOf } from "../../../reconcile/managed/read-fields.ts";
import { SpecProblem } from "../../../reconcile/managed/spec-problem.ts";
import type { Bench } from "../bench.ts";
import { lookAtDefinition, planDefinition } from "../definition-plan.ts";
import { lookAtOperator, type OperatorTraces, operatorInTheWay } from "../other-operator.ts";
import { listed, pickOf } from "../pick.ts";
import { NOTHING_TO_DO, together } from "../plan.ts";
import { prepareIdentity } from "../prepare.ts";
import type { ImportSource } from "../source.ts";
import { lookAtKey } from "../takeover/look-outside.ts";
import { type CrossplaneFacts, keyIdIn, planCrossplane } from "./crossplane-plan.ts";
import { rivals } from "./rivals.ts";

interface CrossplaneOptions {
  readonly name: string;
  readonly family: ManagedFamily;
  readonly resource: CustomResource;
  /** The kind of its configurations, which is of both as well. */
  readonly config: CustomResource;
  readonly traces: OperatorTraces;
}

/** A provider of Crossplane's whose kind is ours too. */
const crossplaneSource = ({ name, family, resource, config, traces }: CrossplaneOptions): ImportSource => ({
  name,
  traces,
  isNamespaced: false,
  prepare: async (bench) => {
    const refusals = operatorInTheWay(traces, await lookAtOperator(bench.kube, bench.now()));
    const [own, configs] = [await lookAtDefinition(bench, resource), await lookAtDefinition(bench, config)];
    const definition = planDefinition(own, traces);
    // What is wrong with the one is wrong with the other: it is said once.
    const rest = definition.refusals.length > 0 ? NOTHING_TO_DO : planDefinition(configs, traces);
    return together({ ...NOTHING_TO_DO, refusals }, definition, rest, await prepareIdentity(bench));
  },
  find: async (bench, wish) => {
    const all = await listed(bench, resource);
    const chosen = pickOf(all, resource, wish, (object, namespace) => secretNamespaceOf(object) === namespace);
    // Also of those that nobody asks for now.
    const rivalOf = rivals(all, family);
    return chosen.map(({ metadata }) => ({
      title: `${resource.kind} ${metadata.name}`,
      family,
      look: async () => {
        const object = await bench.kube.get(resource, { name: metadata.name }, { signal: bench.signal });
        const facts = await lookAt(object, { name, family, bench });
        return planCrossplane({ ...facts, rival: rivalOf.get(metadata.name) }, wish);
      },
    }));
  },
  afterwards: [
    "Run the operator (keyturn manifests): it takes over each key that is named here, and makes none.",
    "The package of the provider may then be uninstalled; other kinds of it would no longer be looked after.",
  ],
});

const secretNamespaceOf = ({ spec }: KubeObject): string | undefined =>
  textOf(fieldsOf(fieldsOf(spec).writeConnectionSecretToRef).namespace);

async function lookAt(
  object: KubeObject,
  { name: source, family, bench }: { readonly name: string; readonly family: ManagedFamily; readonly bench: Bench },
): Promise<CrossplaneFacts> {
  const keyId = keyIdIn(object);
  if (keyId === undefined) return { source, family, object, takeover: undefined };
  try {
    const spec = family.kind.readSpec(object);
    const { retired } = family.kind.readState(object);
    const takeover = await lookAtKey({ bench, family, object, manifest: object, spec, keyId, retired });
    return { source, family, object, takeover };
  } catch (error) {
    if (!(error instanceof SpecProblem)) throw error;
    return { source, family, object, takeover: undefined, problem: error.message };
  }
}

export const crossplaneBtp = crossplaneSource({
  name: "crossplane-btp",
  family: createBtpFamily(),
  resource: serviceBinding,
  config: btpConfig,
  traces: {
    title: "crossplane-provider-btp",
    images: /crossplane(-|\/)provider-btp/,
    names: /^(sap-)?(crossplane-)?provider-btp(-|$)/,
    leases: /provider-btp/,
  },
});

export const crossplaneCloudFoundry = crossplaneSource({
  name: "crossplane-cloudfoundry",
  family: createCloudFoundryFamily(),
  resource: serviceCredentialBinding,
  config: cloudFoundryConfig,
  traces: {
    title: "crossplane-provider-cloudfoundry",
    images: /crossplane(-|\/)provider-cloudfoundry/,
    names: /^(sap-)?(crossplane-)?provider-cloudfoundry(-|$)/,
    leases: /provider-cloudfoundry/,
  },
});
