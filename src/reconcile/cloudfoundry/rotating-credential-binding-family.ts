import { serviceCredentialBinding } from "../../api/cloudfoundry/service-credential-binding.ts";
import { parseInstant } from "../../base/instant.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { KindLimits } from "../managed/crossplane-fields.ts";
import { type Fields, fieldsOf, textOf } from "../managed/read-fields.ts";
import type { ChildPlan } from "../parents/child-plan.ts";
import type { WatchedFamily } from "../parents/parent-controller.ts";
import { keyHealth } from "./key-health.ts";
import { keyMetadata } from "./key-metadata.ts";
import { createRotatingCredentialBindingKind } from "./rotating-credential-binding-kind.ts";

/** The longest that ServiceCredentialBindings take, less a dash and a suffix. */
const MAX_NAME_LENGTH = 200 - 9;

/** RotatingCredentialBindings, whose keys are ServiceCredentialBindings: what makes those stays with their own controller. */
export const createRotatingCredentialBindingFamily = (limits: Partial<KindLimits> = {}): WatchedFamily => ({
  name: "cloudfoundry-rotating",
  kind: createRotatingCredentialBindingKind(limits),
  children: { type: serviceCredentialBinding, secretOf: secretIn },
  planOf,
});

function planOf(parent: KubeObject): ChildPlan {
  return {
    type: serviceCredentialBinding,
    namespace: undefined,
    madeFrom: essenceOf(parent),
    childOf: (name) => childOf(parent, name),
    secretOf: (name, child) => (child ? secretIn(child) : secretOf(parent, name)),
    // Whoever publishes for a managed resource makes it the owner of the Secret: we, and Crossplane's providers.
    ownsSecrets: true,
    healthOf: keyHealth,
    createdAt: ({ status }) => parseInstant(fieldsOf(fieldsOf(status).atProvider).createdAt),
  };
}

/** All but what only tells where the Secret is, or what stands on the key besides. */
function essenceOf(parent: KubeObject): Fields {
  const { forProvider, providerConfigRef, connectionDetailsAsJSON } = fieldsOf(parent.spec);
  return { forProvider, providerConfigRef, connectionDetailsAsJSON, base: baseNameOf(parent) };
}

function childOf(parent: KubeObject, name: string): KubeObject {
  const { forProvider, providerConfigRef, connectionDetailsAsJSON } = fieldsOf(parent.spec);
  const suffix = name.slice(name.lastIndexOf("-") + 1);
  const secret = secretOf(parent, name);
  return {
    apiVersion: apiVersionOf(serviceCredentialBinding),
    kind: serviceCredentialBinding.kind,
    metadata: { name, ...keyMetadata(parent.metadata) },
    spec: {
      forProvider: { ...fieldsOf(forProvider), type: "key", name: `${baseNameOf(parent)}-${suffix}` },
      ...(providerConfigRef !== undefined && { providerConfigRef }),
      ...(connectionDetailsAsJSON !== undefined && { connectionDetailsAsJSON }),
      ...(secret && { writeConnectionSecretToRef: secret }),
    },
  };
}

const baseNameOf = ({ spec, metadata }: KubeObject): string =>
  (textOf(fieldsOf(fieldsOf(spec).forProvider).name) ?? metadata.name).slice(0, MAX_NAME_LENGTH);

/** Under the child's own name, beside the Secret that it is copied to. */
function secretOf(parent: KubeObject, name: string): SecretAddress | undefined {
  const target = addressIn(parent);
  return target && { namespace: target.namespace, name };
}

const secretIn = (child: KubeObject): SecretAddress | undefined => addressIn(child);

function addressIn({ spec }: KubeObject): SecretAddress | undefined {
  const target = fieldsOf(fieldsOf(spec).writeConnectionSecretToRef);
  const [namespace, name] = [textOf(target.namespace), textOf(target.name)];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
